"""ONNX graphs of fitted estimators."""
