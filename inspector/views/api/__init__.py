"""The JSON API for agents and scripts: one file per noun, as the pages have."""
