"""SEES the code: chunked, embedded, searchable, as a graph."""
