"""Solvers of the dual problem; each is a value whose fields are its settings. Only these call native solvers."""
