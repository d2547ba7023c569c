"""NoveltyRejector: a guard before any classifier, and what training had in each column."""
