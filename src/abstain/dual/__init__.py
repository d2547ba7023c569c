"""The training problem as a value, its solution as a value, and the proof that one solves the other."""
