"""Tether: what a coding agent sees, what it may do, and the record of what it did and why."""

__version__ = "0.1.0"
