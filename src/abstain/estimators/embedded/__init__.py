"""Fumera and Roli's machine as a scikit-learn classifier."""
