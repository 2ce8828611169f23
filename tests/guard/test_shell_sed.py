"""Which scripts of sed run a command."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from skills.lib.guard import shell_sed

pytestmark = pytest.mark.req("G-04")


@pytest.mark.parametrize(
    "script",
    [
        *(
            "s/a/b/",
            "s/a/b/g;s/c/d/2p",
            "s|/a|/b|",
            "s/the one/a e /",
            "y/abc/def/",
            "10,20d",
            "$!d",
            "$p",
        ),
        *(
            "/x/I,/y/{p;d}",
            "/e/d",
            "\\%e%d",
            "1~2p",
            "0,/e/s//x/",
            "/a/,+3!p",
            "1!G;h;$!d",
            ":a;N;$!ba;s/\\n/ /g",
            "q5",
        ),
        *(
            "a e text",
            "i\\\ne text",
            "1i\\  e",
            "$a\\\na\\\ne\nd",
            "r file e",
            "w e",
            "s/a/b/w e",
            "# e\np",
            "n;d",
            "=",
        ),
        *(
            "",
            " ; ",
            "s/\\/e/x/",
            "/x/c\\e",
            "s,a\\,e,b,",
            "p;p",
            "{p}",
            "/a/{s/b/c/;d}",
            "l 5",
            "x",
            "v 4.2",
            "bend;:end",
        ),
    ],
)
def test_a_script_that_only_edits(script: str) -> None:
    assert not shell_sed.may_run(script)


@pytest.mark.parametrize(
    "script",
    [
        *(
            "e",
            "e date",
            "edate",
            "1edate",
            "$!{e date",
            "/x/e date",
            "p;e",
            "p\ne date",
            "s/a/b/e",
            "s/a/date/ge",
            "s,a,b,eg",
        ),
        *(
            "\\%x%edate",
            "1,3edate",
            "s1a1b1e",
            "sXaXbXe",
            "{edate}",
            "/e/edate",
            "1!edate",
            "s/a/b/;e",
            "sese",
            "a x\nedate",
        ),
        *(
            "s/a/b",
            "s/a",
            "/a",
            "s",
            "\\",
            "k",
            "pp",
            "dp",
            "s/a/b/k",
            "i x\n1e",
            ":a;e",
            "y/a/b/e",
            "s/[/e/;s/x/]/e",
            "s/[/]e/x/",
        ),
    ],
)
def test_a_script_that_may_run_a_command_or_cannot_be_read(script: str) -> None:
    assert shell_sed.may_run(script)


@pytest.mark.skipif(shutil.which("sed") is None, reason="there is no sed")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet="es/abx[]\\;{}\n1$,!pdgiwy% ", max_size=14))
@example("s/x/touch ran/e")
@example("1{etouch ran\n}")
def test_a_real_sed_runs_nothing_by_a_script_that_only_edits(tmp_path: Path, script: str) -> None:
    """Each file that a script could run as a command leaves a mark."""
    for name in ("x", "a", "b", "es", "sa", "w"):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n: > {tmp_path}/ran\n")
        program.chmod(0o755)
    if "w" not in script and not shell_sed.may_run(script):
        subprocess.run(
            ["sed", script],
            input=b"x\na\n",
            cwd=tmp_path,
            env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
            capture_output=True,
            timeout=10,
            check=False,
        )
        assert not (tmp_path / "ran").exists()
