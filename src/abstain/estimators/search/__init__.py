"""The search for C and gamma: grid, rounds, held-out costs, tuned thresholds."""
