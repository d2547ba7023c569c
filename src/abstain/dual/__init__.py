"""The training problem and its solution as values, and the proof that the solution is optimal."""
