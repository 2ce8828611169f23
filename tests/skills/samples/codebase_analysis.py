"""What the scripted agent reports for codebase-analysis."""

SECTIONS = ("Answer", "Structure", "Patterns", "Flows", "Decisions", "Context", "Open")
VALUES = {
    "deepen.findings": ["data.txt:1 | it is so | it matters", "data.txt:3-3 | and so is this | it matters too"],
}
FILES = {
    "data.txt": "one\ntwo\nthree\n",
    "report": "".join(f"## {name}\n\nSee `data.txt:1`, `data.txt:2` and `data.txt:3`.\n\n" for name in SECTIONS),
}
