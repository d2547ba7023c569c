"""Solvers of Fumera and Roli's training problem."""
