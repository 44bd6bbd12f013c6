"""Text to vectors: the built-in model, ONNX folders, a cloud service, and the order in which they are tried."""
