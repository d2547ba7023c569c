"""What each decision costs, and Bayes' cuts that follow from it."""
