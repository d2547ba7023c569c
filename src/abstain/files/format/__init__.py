"""The container of a model file: members, manifest, arrays, checked values."""
