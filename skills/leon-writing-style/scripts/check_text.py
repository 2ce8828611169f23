"""Checks a text of leon-writing-style: it was rewritten, and every string that was to be kept stands in it.

Called in the project's root with the path of the text, the path of the draft, and two JSON arrays of strings: those to
be kept, and what was declined (an entry ``keep | string | reason`` lets that string go). Prints each fault and ends
with 1 if there is one. A line break counts as a space.
"""

from __future__ import annotations

import json
import sys


def faults(text: str, draft: str, keep: list[str], declined: list[str]) -> list[str]:
    """Every fault as one sentence."""
    text, draft = flowing(text), flowing(draft)
    found = ["it is the draft, word for word: rewrite it"] if text == draft else []
    let_go = tuple(flowing(entry) for entry in declined)
    missing = [string for string in map(flowing, keep) if string not in text]
    kept = [string for string in missing if not any(entry.startswith(f"keep | {string} | ") for entry in let_go)]
    return found + [f"it does not hold, letter for letter: {string}" for string in kept]


def flowing(text: str) -> str:
    """The text on one line, with single spaces."""
    return " ".join(text.split())


def main(arguments: list[str]) -> int:
    """Print the faults of the text that is named; 0 if there are none."""
    if len(arguments) != 4:
        print("usage: check_text.py TEXT DRAFT KEEP DECLINED")
        return 2
    texts = []
    for path in arguments[:2]:
        try:
            with open(path, encoding="utf-8-sig") as opened:
                texts.append(opened.read())
        except (OSError, ValueError) as error:
            print(f"{path} cannot be read as UTF-8 text: {error}")
            return 1
    found = faults(texts[0], texts[1], json.loads(arguments[2]), json.loads(arguments[3]))
    for fault in found:
        print(f"{arguments[0]}: {fault}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
