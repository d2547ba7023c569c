"""Models that travel: the safe model file, the preprocessing it can hold, and ONNX."""
