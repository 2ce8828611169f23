"""A message without end takes no memory, and is answered by an error that says so."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.mcp.talking import LOCKSTEP
from tests.hosts.mcp.test_transports import INITIALIZE

pytestmark = [pytest.mark.req("H-06"), pytest.mark.slow]


def line(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode() + b"\n"


@pytest.mark.parametrize("is_first", [True, False])
def test_a_line_of_200_megabytes_is_answered_by_an_error_and_not_kept(project: Path, is_first: bool) -> None:
    size = 200_000_000
    begin, end = (b'"id":7,', b"") if is_first else (b"", b',"id":7')
    filler = b"x" * 1_000_000
    command = [*LOCKSTEP, "mcp", "--project", str(project)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
            assert json.loads(process.stdout.readline())["id"] == 1
            process.stdin.write(line(method="notifications/initialized"))
            process.stdin.write(b'{"jsonrpc":"2.0",%s"method":"tools/call","params":{"name":"' % begin)
            for _ in range(size // len(filler)):
                process.stdin.write(filler)
            process.stdin.write(b'"}%s}\n' % end)
            answer = json.loads(process.stdout.readline())
            assert answer["id"] == 7
            assert "the message is too long" in answer["error"]["message"]
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
            peak = next(int(row.split()[1]) for row in status.splitlines() if row.startswith("VmHWM:"))
            assert peak < 300_000
            process.stdin.write(line(id=8, method="ping"))
            assert json.loads(process.stdout.readline())["id"] == 8
            process.stdin.close()
            assert process.wait(20) == 0
            assert process.stderr is not None
            assert b"a message has more than 16,000,000 bytes" in process.stderr.read()
        finally:
            process.kill()
