"""HANDS: files, patches, commands. Each module lists its verbs; `workspace` puts them together."""
