"""Why rows are handed on: what moves their scores, what would settle them, and what was unlike the training rows."""
