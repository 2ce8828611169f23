"""``lockstep`` and ``python -m lockstep``: the command."""

import sys
from importlib import import_module

from lockstep import library


def main() -> None:
    """Serve one call of ``lockstep`` and exit the process with its code."""
    # The process is Lockstep's alone, so its own package goes before another of that name.
    sys.path.insert(0, library.ROOT)
    import_module("skills")
    sys.path.remove(library.ROOT)
    import_module("skills.lib.commands").main()


if __name__ == "__main__":
    main()
