"""How the embedding model inside the wheel is made: gather, mine, distil, tune, ship. Not installed with Tether."""
