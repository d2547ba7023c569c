"""The error for all model files that cannot be loaded."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A model file is damaged, altered or too large, or is not a model file; the message says which."""
