"""``python -m benchmarks.cost``: walk each skill and write README's table of what it costs."""

from __future__ import annotations

from benchmarks.cost.figures import write_readme

if __name__ == "__main__":
    write_readme()
