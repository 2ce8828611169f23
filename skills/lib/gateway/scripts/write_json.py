"""Writes a JSON value to a file of the project, indented: ``write_json.py PATH JSON``."""

import os
import sys

sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4)))

import json
from collections.abc import Sequence

from skills.lib import compact_json
from skills.lib.errors import UsageError
from skills.lib.gateway import writing


def _indented(texts: Sequence[str]) -> str:
    """The JSON value, indented. Raises UsageError if it is none, or names something twice."""
    if len(texts) != 1:
        raise UsageError(f"one JSON value is written, not {len(texts)}", valid="write_json.py PATH JSON")
    try:
        return json.dumps(compact_json.loads(texts[0], strict=True), indent=2, ensure_ascii=False) + "\n"
    except ValueError as error:
        raise UsageError(f"it is no JSON: {error}") from error


if __name__ == "__main__":
    sys.exit(writing.serve("write_json.py PATH JSON", _indented, 1))
