"""The strict reader under mutations of good files, bombs, and odd bytes: a clear error with a line, or a workflow."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.extent import extent

ROOT = Path(__file__).parents[2]
# Reads each file of a folder in a process of at most 100 MB more than it takes to begin, and times it.
READS = """
import json, os, resource, sys, time
from skills.lib.graphfile.compiling import compile_file
from skills.lib.graphfile.reader import GraphFileError

pages = int(open("/proc/self/statm").read().split()[0])
most = pages * resource.getpagesize() + 100_000_000
resource.setrlimit(resource.RLIMIT_AS, (most, most))
told = []
for name in sorted(os.listdir(sys.argv[1])):
    began = time.process_time()
    try:
        compile_file(os.path.join(sys.argv[1], name, "workflow.yaml"))
        found = ["good"]
    except GraphFileError as error:
        found = [f"{problem.line}: {problem.what}" for problem in error.problems]
    told.append([name, found, time.process_time() - began])
print(json.dumps(told))
"""
# A generous guard against a hang; what is measured is far below.
SECONDS = 20
BOMBS: dict[str, bytes] = {
    "aliases": b"a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nname: *c\n",
    "merge": b"a: &a {x: 1}\n" + b"b: {<<: *a}\n" * 500,
    "brackets": b"[" * 60_000,
    "braces": b"{a: " * 15_000,
    "dashes": b"- " * 30_000 + b"x",
    "indents": b"".join(b" " * depth + b"a:\n" for depth in range(300)),
    "long": b"a: b\n" * 2_000_000,
    "one_line": b"name: " + b"x" * 63_000,
    "keys": b"".join(b"k%d: v\n" % number for number in range(6_000)),
    "questions": b"? " * 30_000,
    "colons": b": " * 30_000,
    "quotes": b"name: '" + b"''" * 30_000,
    "escapes": b'name: "' + b"\\x41" * 15_000 + b'"',
    "bad_escape": b'name: "\\ud800\\udc00"',
    "block": b"name: |\n" + b"  x\n" * 15_000,
    "folded": b"name: >\n" + b" \n" * 30_000,
    "comments": b"#" * 60_000,
    "percent": b"%YAML 9.9\n---\nname: x\n",
    "directives": b"%TAG ! tag:x,2000:\n---\nname: !x y\n",
    "tag": b"name: !!python/object/apply:os.system [touch ran]\n",
    "documents": b"---\n" * 15_000,
    "binary": bytes(range(256)) * 200,
    "utf16": "name: x\nsteps: {}\n".encode("utf-16"),
    "utf32": "name: x\n".encode("utf-32"),
    "latin": "name: caf\u00e9\n".encode("latin-1"),
    "nul": b"name: a\0b\n",
    "bom_only": b"\xef\xbb\xbf",
    "separators": "name: a\u2028b\u2029c\u0085d\n".encode(),
    "numbers": b"name: x\nsteps: {a: {max_iterations: " + b"9" * 60_000 + b"}}",
    "dates": b"name: 2026-99-99\nsteps: {a: {do: 0x1F, title: 1e999, max_iterations: .inf}}\n",
    "rule": b"name: x\nsteps: {a: {do: y, outcomes: {ok: '" + b"(" * 20_000 + b"'}}}",
    "nots": b"name: x\nsteps: {a: {do: y, outcomes: {ok: '" + b"not " * 400 + b"a'}}}",
    "powers": b"name: x\nsteps: {a: {do: y, requires: [n], outcomes: {ok: 'n == 9**9**9', fail: else}}}",
    "braces_in_keep": b"name: x\nsteps: {a: {do: y, keep: {l: {append: '" + b"{" * 20_000 + b"'}}}}",
}


def read_all(folder: Path, files: dict[str, bytes], beside: Path | None = None) -> dict[str, list[str]]:
    """What is told of each file, by its name, with what stands in a skill beside it; fails if one takes long."""
    for name, data in files.items():
        if beside is not None:
            shutil.copytree(beside, folder / name)
        (folder / name / "scripts").mkdir(parents=True, exist_ok=True)
        (folder / name / "workflow.yaml").write_bytes(data)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", READS, str(folder)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout)
    assert [(name, took) for name, _, took in told if took > SECONDS] == []
    return {name: found for name, found, _ in told}


@pytest.mark.req("E-05")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="measures memory by /proc")
def test_bombs_and_odd_bytes_are_refused_with_a_line(tmp_path: Path) -> None:
    told = read_all(tmp_path, BOMBS)
    assert [name for name, found in told.items() if found == ["good"]] == []
    for name, found in told.items():
        line, _, what = found[0].partition(": ")
        assert int(line) >= 1, name
        assert 5 < len(what) < 400, (name, what[:500])
    assert not (tmp_path / "ran").exists()


@pytest.mark.req("E-05")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="measures memory by /proc")
@pytest.mark.parametrize("count", [60, pytest.param(extent(300, 1_500), marks=pytest.mark.slow)])
def test_a_good_file_with_bytes_changed_is_read_or_refused(tmp_path: Path, count: int) -> None:
    skill = ROOT / "skills" / "decision-critic"
    good = (skill / "workflow.yaml").read_bytes()
    chance = random.Random(count)
    files = {"as it is": good} | {f"m{number}": mutated(good, chance) for number in range(1, count)}
    told = read_all(tmp_path, files, skill)
    assert len(told) == count
    assert told["as it is"] == ["good"]
    assert 0 < sum(found == ["good"] for found in told.values()) < count / 2
    assert all(found == ["good"] or int(found[0].partition(":")[0]) >= 1 for found in told.values())


def mutated(good: bytes, chance: random.Random) -> bytes:
    """The file with one to four places changed: bytes, signs of YAML, lines that are lost, doubled or moved."""
    data = good
    for _ in range(chance.randrange(1, 5)):
        at = chance.randrange(len(data))
        kind = chance.randrange(5)
        if kind == 0:
            data = data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
        elif kind == 1:
            sign = chance.choice(
                [b"&a ", b"*a", b"!!x ", b"<<: ", b"{", b"}", b"[", b"]", b"'", b'"', b"|", b"\t", b": "]
            )
            data = data[:at] + sign + data[at:]
        else:
            lines = data.split(b"\n")
            line = chance.randrange(len(lines))
            lost = lines.pop(line)
            if kind > 2:
                lines[line:line] = [lost, lost] if kind == 3 else []
                lines.insert(chance.randrange(len(lines) + 1), lost)
            data = b"\n".join(lines)
    return data
