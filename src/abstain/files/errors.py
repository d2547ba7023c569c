"""The one error of model files."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A model file is damaged, was altered, is too large or is no model file; the text says which, in one sentence."""
