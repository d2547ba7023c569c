"""scikit-learn estimators that may answer "I would rather not decide"."""
