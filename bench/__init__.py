"""Reproducible measurements, each printed as a ratio against a peer or bound of the same run."""
