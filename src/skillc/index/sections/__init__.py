"""The section index: one skill's sections, headings and files in an FTS5 database."""
