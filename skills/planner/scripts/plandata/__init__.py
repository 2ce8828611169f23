"""A plan as data: its form, its versions, its diffs and its waves. The standard library alone, and jsonschema."""
