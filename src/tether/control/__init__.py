"""What an agent may do: pure functions from facts to a decision, without clock, file or network."""
