"""One tool call in a process of its own: a request as JSON on standard input, the reply as JSON on standard output.

Started by its path (``python -P worker.py``), for the project's own ``skills`` folder must not shadow the package.
"""

import json
import os
import signal
import sys

if __name__ == "__main__":
    root = os.path.realpath(__file__)
    for _ in range(5):
        root = os.path.dirname(root)
    sys.path.insert(0, root)

from skills.lib.errors import BUG, INTERRUPTED
from skills.lib.hosts.mcp import runner
from skills.lib.runtime import script


def main() -> int:
    """Serve the one request; what a skill prints is sent to standard error."""
    # A process that was started in the background ignores interrupts, and so do its children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    wire = os.dup(1)
    os.dup2(2, 1)
    try:
        reply = runner.serve(json.loads(sys.stdin.buffer.read()))
        answer = json.dumps(reply).encode()
    except KeyboardInterrupt:  # the call was cancelled
        return INTERRUPTED
    except Exception:
        script.report_bug()
        return BUG
    with os.fdopen(wire, "wb") as out:
        out.write(answer)
    return 0


if __name__ == "__main__":
    script.leave(main())
