"""Where to cut: by costs, a budget of rejects, a ceiling on the error, held-out scores."""
