"""A budgeted, zoomable, reproducible view of a repository."""
