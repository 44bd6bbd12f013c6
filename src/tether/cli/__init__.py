"""The `tether` command."""
