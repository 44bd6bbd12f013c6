"""The raw material: files, text and syntax, before anything is indexed, packed or decided."""
