"""Compiles a policy for the hook: ``python -I compile_policy.py FILE`` with the text on standard input.

It prints JSON. If the text is no policy, or PyYAML is missing, it says so on standard error and exits with 2.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Compile the text on standard input."""
    root = os.path.realpath(__file__)
    for _ in range(5):
        root = os.path.dirname(root)
    sys.path.insert(0, root)
    from skills.lib import compact_json
    from skills.lib.errors import LockstepError
    from skills.lib.guard.policy import compile_policy

    try:
        text = sys.stdin.buffer.read().decode()
        compiled = compile_policy(text, sys.argv[1])
    except UnicodeDecodeError:
        sys.exit("it is not UTF-8 text")
    except LockstepError as error:
        sys.stderr.write("\n".join(error.lines()) + "\n")
        sys.exit(2)
    sys.stdout.write(compact_json.ordered(compiled))


if __name__ == "__main__":
    main()
