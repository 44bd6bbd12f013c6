"""DOORS: the `tether` command."""
