"""scikit-learn's classifiers and transformers as fields and arrays, and back."""
