"""What each command does: `demo` needs no table, `fit` reads one to train on, `predict` a model."""
