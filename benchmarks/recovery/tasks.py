"""All tasks: those with a failure, those that cannot be done as a whole, and those without a failure."""

from __future__ import annotations

from benchmarks.recovery.cases import OUT, TABLE, Case, broken, fetched, flaky, read, run, then, write
from benchmarks.recovery.faults import CHECKS, COLUMN, FAULTS

_PART = 'Write what is known: `write(path="known.txt", content="so far")`'
_UNSOLVABLE = [
    Case(name, f"unsolvable: {kind}", (_PART, instruction), files, {}, False, {"known.txt": "so far"}, tools, faults)
    for name, kind, instruction, files, tools, faults in (
        ("nothing-near", "missing file", read("zzyzx.bin"), {}, (), ()),
        ("no-program", "missing program", run("pdflatexx paper.tex", "Output written"), {"paper.tex": "x"}, (), ()),
        ("dns", "network", fetched()[0], {}, (broken("fetch", "no such host"),), ()),
        ("down", "network", fetched()[0], {}, (broken("fetch", "temporarily unavailable: try again"),), ()),
        ("password", "permission", fetched()[0], {}, (broken("fetch", "403: this account may not"),), ()),
        ("disk-full", "disk", run("cp a.txt /dev/full"), {"a.txt": "a" * 9_000}, (), ()),
        ("no-data", "malformed output", run("python empty.py", "total"), {"empty.py": ""}, (), ()),
        ("crash", "malformed output", run("python crash.py", "total"), {"crash.py": "raise SystemExit(9)\n"}, (), ()),
        ("quota", "the model", read("a.txt"), {"a.txt": "a\n"}, (), ("", "", "quota")),
        ("binary", "changed format", read("a.bin", "total"), {"a.bin": b"\0\1\2" * 99}, (), ()),
    )
]
# Without a fault: what takes 3 to 5 model calls.
_SIMPLE = [
    Case("note", "no fault", (write(1, "ready"),), makes={OUT: "ready"}),
    Case("copy", "no fault", **then(read("readings.csv"), "south", files={"readings.csv": TABLE})),
    Case("count", "no fault", **then(run("wc -l readings.csv", "3"), "3", files={"readings.csv": TABLE})),
    Case(
        "find", "no fault", **then('Find: `search(pattern="south")`', "readings.csv:2", files={"readings.csv": TABLE})
    ),
    Case("list", "no fault", **then('List: `search(glob="*.csv")`', "readings.csv", files={"readings.csv": TABLE})),
    Case(
        "sorted",
        "no fault",
        **then(run("sort readings.csv | head -1", "name"), "name", files={"readings.csv": TABLE}),
    ),
    Case(
        "edited",
        "no fault",
        ('Change it: `edit(path="conf.txt", old="level = 1", new="level = 2")`', read("conf.txt"), write(3)),
        {"conf.txt": "level = 1\n"},
        {"conf.txt": "level = 2", OUT: "level = 2"},
    ),
    Case(
        "summed",
        "no fault",
        (read("table.csv"), run("python sum.py table.csv total", "sum 42"), write(3)),
        {"sum.py": COLUMN, "table.csv": TABLE},
        {OUT: "sum 42"},
    ),
    Case(
        "script",
        "no fault",
        **then(
            run("python skills/task/scripts/check.py table.csv", "valid"),
            "valid",
            files={"table.csv": TABLE, "@scripts/check.py": CHECKS},
        ),
    ),
    Case("fetched", "no fault", instructions=fetched("1.09"), makes={OUT: "1.09"}, tools=(flaky("fetch", "EUR 1.09"),)),
]
CASES = [*FAULTS, *_UNSOLVABLE, *_SIMPLE]
