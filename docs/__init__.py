"""The documentation, and what makes its references."""
