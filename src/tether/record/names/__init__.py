"""Which names are local to a file, language by language, and what else of a language is free to change."""
