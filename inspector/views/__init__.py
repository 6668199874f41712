"""One file per noun: a view parses, calls one query or service, renders."""
