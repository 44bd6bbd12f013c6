"""The hands: every verb that touches files or runs programs, behind the gate."""
