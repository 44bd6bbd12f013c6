"""DOORS: each turns its wire into a Call, and the answer back."""
