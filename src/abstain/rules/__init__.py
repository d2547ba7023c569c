"""From scores to decisions: where to cut, and what the cuts promise."""
