"""What all fits share: checked rows, problems, folds, progress, the fitted value."""
