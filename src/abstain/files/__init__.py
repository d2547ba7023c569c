"""Saving, loading and exporting models: safe model files, including preprocessing, and ONNX."""
