"""How `fit` and `compare` train: machines, budgets, promises, guards, clusters."""
