"""The tasks with failures of every kind, each with a way out that a text or a list names."""

from __future__ import annotations

import gzip

from benchmarks.recovery.cases import OUT, TABLE, TOWNS, Case, choosing, fetched, flaky, read, run, then, write, zipped

_OPTIONS = """import argparse, sys
parser = argparse.ArgumentParser()
parser.add_argument("--format", choices=["csv", "json"], default="csv")
parser.add_argument("--unit", choices=["metre", "foot"], default="metre")
given = parser.parse_args()
print('{"total": 42}' if given.format == "json" else "total;42", given.unit)
"""
COLUMN = """import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
if sys.argv[2] not in rows[0]:
    sys.exit(f"there is no column {sys.argv[2]!r}, available: {', '.join(rows[0])}")
print("sum", sum(int(row[sys.argv[2]]) for row in rows))
"""
_SLOW = "import time\ntime.sleep(1.5)\nprint('slow and done')\n"
_COUNTS = '"""Measures the complexity of a module: counts its branches."""\nimport sys\n' + (
    "print('branches', open(sys.argv[1]).read().count('if '))\n"
)
CHECKS = '"""Validates a table: each line has as many fields as the first."""\nimport sys\n' + (
    "print('valid' if len({line.count(',') for line in open(sys.argv[1])}) == 1 else 'uneven')\n"
)
_SAVES = """import sys
where = sys.argv[1]
if where == "full":
    sys.exit("no space left on device 'full' (choose from 'spare', 'cache')")
open("saved.txt", "w").write("saved in " + where)
print("saved in", where)
"""
_HALF = """import os, sys
if os.path.exists("tried"):
    print('{"total": 42}')
else:
    open("tried", "w").close()
    print('{"tot')
    sys.exit("the connection broke off: try again")
"""

# What a failure of each kind is, and what leads out of it.
_ENCODINGS = [
    Case("latin", "encoding", **then(read("data.csv", "Köln"), "Liège", files={"data.csv": TOWNS.encode("latin-1")})),
    Case(
        "windows",
        "encoding",
        **then(read("notes.txt", "“well”"), "“well”", files={"notes.txt": "“well”\n".encode("cp1252")}),
    ),
    Case("utf-16", "encoding", **then(read("data.csv", "Köln"), "Zoë", files={"data.csv": TOWNS.encode("utf-16")})),
    Case("utf-32", "encoding", **then(read("data.csv", "Köln"), "Zoë", files={"data.csv": TOWNS.encode("utf-32")})),
    Case(
        "shift-jis",
        "encoding",
        **then(read("towns.txt", "東京"), "東京", files={"towns.txt": "東京と大阪へ\n".encode("shift_jis")}),
    ),
    Case(
        "gb18030",
        "encoding",
        **then(read("towns.txt", "北京"), "北京", files={"towns.txt": "北京和上海的人\n".encode("gb18030")}),
    ),
    Case(
        "wrong-name",
        "encoding",
        **then(read("data.csv", "Köln", encoding="latn-1"), "Liège", files={"data.csv": TOWNS.encode("latin-1")}),
    ),
    Case(
        "told-ascii",
        "encoding",
        **then(read("data.csv", "Köln", encoding="ascii"), "Liège", files={"data.csv": TOWNS}),
    ),
    Case(
        "utf-16-unmarked",
        "encoding",
        **then(read("data.csv", "Köln"), "Zoë", files={"data.csv": TOWNS.encode("utf-16-le")}),
    ),
]
_FILES = [
    Case("near-name", "missing file", **then(read("reading.csv", "south"), "12", files={"readings.csv": TABLE})),
    Case("other-case", "missing file", **then(read("readings.CSV"), "south", files={"Readings.csv": TABLE})),
    Case("other-folder", "missing file", **then(read("readings.csv"), "south", files={"data/readings.csv": TABLE})),
    Case("wrong-folder", "missing file", **then(read("in/readings.csv"), "12", files={"input/readings.csv": TABLE})),
    Case("other-ending", "missing file", **then(read("readings.txt"), "south", files={"old/readings.csv": TABLE})),
    Case("deep", "missing file", **then(read("notes.md"), "deep", files={"a/b/c/notes.md": "deep down\n"})),
    Case("of-a-command", "missing file", **then(run("cat readngs.csv"), "30", files={"readings.csv": TABLE})),
    Case("redirected", "missing file", **then(run("sort < reading.csv"), "30", files={"readings.csv": TABLE})),
    Case(
        "of-a-script",
        "missing file",
        **then(run("python sum.py tabel.csv total", "sum 42"), "sum 42", files={"sum.py": COLUMN, "table.csv": TABLE}),
    ),
    Case("a-folder", "missing file", **then(read("data", "south"), "30", files={"data/readings.csv": TABLE})),
    Case("dated", "missing file", **then(read("report-2025.txt"), "up", files={"report-2026.txt": "it is up\n"})),
]
_PROGRAMS = [
    Case("misspelt", "missing program", **then(run("pythn sum.py", "6"), "6", files={"sum.py": "print(1 + 2 + 3)\n"})),
    Case("sorted", "missing program", **then(run("sotr data.txt", "a"), "a", files={"data.txt": "b\na\n"})),
    Case(
        "radon",
        "missing program",
        **then(
            run("radon cc app.py", "branches 2", "Measure the complexity of the module"),
            "branches 2",
            files={"app.py": "if a:\n    if b:\n        pass\n", "@scripts/branches.py": _COUNTS},
        ),
    ),
    Case(
        "csvlint",
        "missing program",
        **then(
            run("csvlint table.csv", "valid", "See whether the table validates"),
            "valid",
            files={"table.csv": TABLE, "@scripts/check.py": CHECKS},
        ),
    ),
    Case(
        "a-module",
        "missing program",
        **then(
            run("python -m radon cc app.py", "branches 1", "Measure the complexity of the module"),
            "branches 1",
            files={"app.py": "if a:\n    pass\n", "@scripts/branches.py": _COUNTS},
        ),
    ),
    Case("script", "missing program", **then(run("./sum.py", "6"), "6", files={"sum.py": "print(6)\n"})),
    Case("shell-script", "missing program", **then(run("./go.sh", "gone"), "gone", files={"go.sh": "echo gone\n"})),
    Case(
        "variable",
        "missing program",
        **then(
            run("LEVEL=3 python level.py", "level 3"),
            "level 3",
            files={"level.py": "import os\nprint('level', os.environ['LEVEL'])\n"},
        ),
    ),
]
_TIMES = [
    Case("slow", "timeout", **then(run("python slow.py", "done", timeout=1), "done", files={"slow.py": _SLOW})),
    Case(
        "slow-pipe",
        "timeout",
        **then(run("python slow.py | sort", "done", timeout=1), "done", files={"slow.py": _SLOW}),
    ),
    Case("too-long", "timeout", **then(run("echo quick", "quick", timeout=3600), "quick")),
    Case(
        "of-a-service",
        "timeout",
        instructions=fetched("1.09"),
        makes={OUT: "1.09"},
        tools=(flaky("fetch", "EUR 1.09", "timed out after 10 s"),),
    ),
    Case(
        "twice",
        "timeout",
        instructions=fetched("1.09"),
        makes={OUT: "1.09"},
        tools=(flaky("fetch", "EUR 1.09", "timed out after 10 s", "timed out after 10 s"),),
    ),
]
_OUTPUTS = [
    Case("half", "malformed output", **then(run("python half.py", '"total"'), "42", files={"half.py": _HALF})),
    Case(
        "wrong-format",
        "malformed output",
        **then(run("python make.py --format jsn", '"total"'), "42", files={"make.py": _OPTIONS}),
    ),
    Case(
        "wrong-unit",
        "malformed output",
        **then(run("python make.py --unit meter", "metre"), "42", files={"make.py": _OPTIONS}),
    ),
    Case(
        "empty",
        "malformed output",
        instructions=fetched("1.09"),
        makes={OUT: "1.09"},
        tools=(flaky("fetch", "EUR 1.09", "the answer was empty: try again"),),
    ),
    Case(
        "no-json",
        "malformed output",
        instructions=fetched("1.09"),
        makes={OUT: "1.09"},
        tools=(flaky("fetch", '{"EUR": 1.09}', "what came is no JSON (a temporary page): try again"),),
    ),
    Case(
        "option-renamed",
        "malformed output",
        **then(
            run("python make.py --fromat json", '"total"'),
            "42",
            files={"make.py": _OPTIONS},
        ),
    ),
]
_MODELS = [
    Case(
        f"{name}-{len(faults)}",
        "rate limit of the model",
        **then(read("readings.csv", "south"), "12", files={"readings.csv": TABLE}),
        model_faults=faults,
    )
    for name, faults in (
        ("limit", ("limit",)),
        ("limit", ("limit", "limit", "limit")),
        ("overloaded", ("overloaded", "overloaded")),
        ("server", ("server",)),
        ("unavailable", ("unavailable", "server")),
    )
]
_NETWORK = [
    Case(
        name,
        "flaky network",
        instructions=fetched("1.09"),
        makes={OUT: "1.09"},
        tools=(flaky("fetch", "EUR 1.09", *failures),),
    )
    for name, failures in (
        ("reset", ("connection reset by peer: try again",)),
        ("unavailable", ("503: temporarily unavailable",)),
        ("limit", ("429: too many requests, come back in 1 s",)),
        ("twice", ("connection reset by peer, retry", "connection reset by peer, retry")),
        ("name", ("temporary failure in name resolution",)),
    )
] + [
    Case(
        "moved",
        "flaky network",
        instructions=fetched("1.09"),
        makes={OUT: "1.09"},
        tools=(choosing("fetch", "rates.test", "EUR 1.09", "'{address}' is gone; did you mean rates.test?"),),
    ),
    Case(
        "reset-silently",
        "flaky network",
        instructions=fetched("1.09"),
        makes={OUT: "1.09"},
        tools=(flaky("fetch", "EUR 1.09", "connection reset by peer"),),
    ),
]
_ARGUMENTS = [
    Case(
        "other-name",
        "wrong arguments",
        **then('Read it: `read(file="readings.csv")`', "south", files={"readings.csv": TABLE}),
    ),
    Case(
        "unknown",
        "wrong arguments",
        **then('Read it: `read(path="readings.csv", mode="r")`', "south", files={"readings.csv": TABLE}),
    ),
    Case("far", "wrong arguments", **then(read("readings.csv", offset=40), "north", files={"readings.csv": TABLE})),
    Case("many", "wrong arguments", **then(read("readings.csv", limit=90_000), "12", files={"readings.csv": TABLE})),
    Case(
        "pattern",
        "wrong arguments",
        **then(
            'Find it: `search(pattern="total[")`, whose result has `a.txt`', "a.txt", files={"a.txt": "total[0] = 1\n"}
        ),
    ),
    Case(
        "no-pattern",
        "wrong arguments",
        **then('List: `search(path="data")`, whose result has `b.txt`', "b.txt", files={"data/b.txt": "b\n"}),
    ),
    Case(
        "content",
        "wrong arguments",
        ('Write it: `write(path="out.txt", text="ready")`',),
        makes={OUT: "ready"},
    ),
]
_PERMISSIONS = [
    Case("outside", "permission", (write(1, "ready", "/tmp/lockstep-recovery/out.txt"),), makes={OUT: "ready"}),
    Case("above", "permission", (write(1, "ready", "../out.txt"),), makes={OUT: "ready"}),
    Case("unread", "permission", (write(1, "new text"),), {OUT: "old text\n"}, {OUT: "new text"}),
    Case(
        "kept",
        "permission",
        ('Read: `read(path="a.txt")`', write(2, "{1}", ".git/out.txt")),
        {"a.txt": "ready\n"},
        {OUT: "ready"},
    ),
]
_DISKS = [
    Case(
        "full",
        "disk",
        (run("python save.py full", "saved in"),),
        {"save.py": _SAVES},
        {"saved.txt": "saved in spare"},
    ),
    Case(
        "large",
        "disk",
        **then(
            read("log.txt", "first line"), "first line", files={"log.txt": "first line\n" + "more of it\n" * 1_600_000}
        ),
    ),
    Case(
        "busy",
        "disk",
        instructions=('Save it: `save(address="out")`, whose result has `saved`', write(2)),
        makes={OUT: "saved"},
        tools=(flaky("save", "saved", "[Errno 16] device or resource busy: 'out'"),),
    ),
]
_FORMATS = [
    Case(
        "column",
        "changed format",
        **then(run("python sum.py table.csv totals", "sum 42"), "sum 42", files={"sum.py": COLUMN, "table.csv": TABLE}),
    ),
    Case(
        "gzip",
        "changed format",
        **then(read("data.csv", "south"), "30", files={"data.csv": gzip.compress(TABLE.encode())}),
    ),
    Case(
        "zip",
        "changed format",
        **then(read("data.csv", "readings"), "readings", files={"data.csv": zipped("readings", TABLE)}),
    ),
    Case(
        "sheet",
        "changed format",
        instructions=('Open the sheet: `fetch(address="Sheet1")`, whose result has `42`', write(2)),
        makes={OUT: "42"},
        tools=(choosing("fetch", "Totals", "42", "there is no sheet '{address}', available: Notes, Totals"),),
    ),
    Case(
        "blanks",
        "changed format",
        ('Change it: `edit(path="conf.txt", old="level = 1", new="level = 2")`',),
        {"conf.txt": "name = a\nlevel  =  1\n"},
        {"conf.txt": "level = 2"},
    ),
]
_TWO = [
    Case(
        "two-faults",
        "two faults",
        (read("town.csv", "Köln"), write(2, "{1}", "/tmp/lockstep-recovery/towns.txt")),
        {"towns.csv": TOWNS.encode("latin-1")},
        {"towns.txt": "Köln"},
    ),
    Case(
        "three-faults",
        "two faults",
        (run("pythn sum.py tabel.csv totals", "sum 42"), write(2)),
        {"sum.py": COLUMN, "table.csv": TABLE},
        {OUT: "sum 42"},
    ),
]
FAULTS = [
    *_ENCODINGS, *_FILES, *_PROGRAMS, *_TIMES, *_OUTPUTS, *_MODELS, *_NETWORK, *_ARGUMENTS, *_PERMISSIONS, *_DISKS,
    *_FORMATS, *_TWO,
]  # fmt: skip
