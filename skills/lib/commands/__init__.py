"""The ``lockstep`` command: one subcommand is one module here, with one function of the same name."""

from __future__ import annotations

import sys


def main() -> None:
    """Serve one call of ``lockstep`` and exit the process with its code."""
    try:
        from skills.lib.commands.console.app import lockstep
    except KeyboardInterrupt:
        print("lockstep: interrupted", file=sys.stderr)
        sys.exit(130)
    except ImportError as error:
        if sys.argv[1:2] == ["doctor"]:  # it has to work even if nothing else does
            from skills.lib.hosts.doctor.__main__ import main as doctor

            sys.exit(doctor([word for word in sys.argv[2:] if not word.startswith("-")]))
        if (error.name or "").partition(".")[0] not in ("click", "rich"):
            raise
        from skills.lib.runtime import plain

        if sys.argv[1:2] and sys.argv[1] in plain.COMMANDS:  # blocks name these
            sys.exit(plain.main(sys.argv[1:]))
        print(f"lockstep: {error.name} is not installed for {sys.executable}", file=sys.stderr)
        print("  try:   pip install /path/to/lockstep", file=sys.stderr)
        sys.exit(4)
    lockstep.main(prog_name="lockstep")
