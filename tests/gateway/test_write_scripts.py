"""The four scripts that write files, run as an agent runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from skills.lib.errors import UsageError
from skills.lib.gateway import GatewayResult, safe_py_runner
from skills.lib.gateway.places import SHIPPED, shipped_scripts
from tests.gateway.conftest import Setup

pytestmark = pytest.mark.req("P-08")

# What shells, templates and argument lists are known to spoil.
TEXT = "# Tïtle\r\n\n`code` $(x) ${y} 'a' \"b\" \\n \\ %s {z} && ; | < >\n\ttab\n"


def read(setup: Setup, name: str) -> str:
    return (setup.project / name).read_bytes().decode()


def test_a_file_is_written_from_standard_input_byte_for_byte(setup: Setup) -> None:
    result = safe_py_runner("scripts/write_file.py", ["build/new/a.md"], stdin_text=TEXT)
    assert (result.exit, result.errors) == (0, "")
    assert result.output == f"wrote {len(TEXT.encode())} bytes: {setup.project}/build/new/a.md\n"
    assert read(setup, "build/new/a.md") == TEXT
    assert safe_py_runner("scripts\\write_file.py", ["build\\new\\a.md"], stdin_text="").ok
    assert read(setup, "build/new/a.md") == ""


@pytest.mark.parametrize("command", ["python_run", "script_run"])
def test_a_file_is_not_emptied_by_a_call_without_content(setup: Setup, command: str) -> None:
    before = read(setup, "README.md")
    with pytest.raises(UsageError, match=r"write_file\.py writes its standard input, and none is given") as refused:
        setup.gateway.run(command, {"script": "scripts/write_file.py", "args": ["README.md"]})
    assert refused.value.remedy == 'give the content as stdin_text; "" makes an empty file'
    assert read(setup, "README.md") == before != ""


def test_ten_megabytes_are_written(setup: Setup) -> None:
    text = "0123456789" * 1_000_000
    assert safe_py_runner("scripts/write_file.py", ["big.txt"], stdin_text=text).ok
    assert read(setup, "big.txt") == text


def test_json_text_and_markdown_are_written_from_arguments(setup: Setup) -> None:
    value = {"a": [1, 2.5, None, True], "ü": TEXT}
    assert safe_py_runner("scripts/write_json.py", ["a.json", json.dumps(value)]).ok
    assert json.loads(read(setup, "a.json")) == value
    assert read(setup, "a.json").startswith('{\n  "a": [\n    1,')
    assert safe_py_runner("scripts/write_txt.py", ["a.txt", "-one", "two"]).ok
    assert read(setup, "a.txt") == "-one\ntwo\n"
    assert safe_py_runner("scripts/write_md.py", ["a.md", "# Title", "- `x`\n"]).ok
    assert read(setup, "a.md") == "# Title\n\n- `x`\n"


@pytest.mark.parametrize(
    "script, args, code, told",
    [
        ("write_file.py", [], 2, "the arguments are not complete\n  valid: write_file.py PATH"),
        ("write_file.py", ["README.md", "text"], 2, "'text' is one argument too many\n  valid: write_file.py PATH"),
        ("write_txt.py", ["a.txt"], 2, "the arguments are not complete\n  valid: write_txt.py PATH TEXT..."),
        ("write_json.py", ["a.json", "{x}"], 2, "it is no JSON"),
        ("write_json.py", ["a.json", '{"a":1,"a":2}'], 2, "it is no JSON: the name 'a' stands twice"),
        ("write_json.py", ["a.json", "1", "2"], 2, "one JSON value is written, not 2"),
        ("write_md.py", ["../a.md", "x"], 3, "leads to"),
        ("write_md.py", ["out/a.md", "x"], 3, "leads to"),
        ("write_md.py", ["file-out", "x"], 3, "leads to"),
        ("write_md.py", ["a;b", "x"], 3, "is no path as the gateway takes it"),
        ("write_txt.py", ["scripts/evil.py", "x"], 3, "scripts are run from scripts/"),
        ("write_txt.py", ["skills/x/evil.py", "x"], 3, "scripts are run from each folder in skills/"),
        ("write_txt.py", ["lockstep.gateway.yaml", "x"], 3, "the gateway does not write"),
        ("write_txt.py", ["lockstep.policy.yaml", "x"], 3, "the gateway does not write"),
        ("write_txt.py", [".git/hooks/pre-commit", "x"], 3, "the gateway does not write"),
        ("write_txt.py", ["docs", "x"], 4, "is there, and is no regular file"),
        ("write_txt.py", ["README.md/x", "x"], 4, "Not a directory"),
    ],
)
def test_what_is_not_written_is_told(setup: Setup, script: str, args: list[str], code: int, told: str) -> None:
    before = setup.outside()
    result = safe_py_runner(f"scripts/{script}", args, stdin_text="x")
    assert (result.exit, result.output) == (code, "")
    assert told in result.errors
    assert setup.outside() == before


def test_a_skill_writes_its_results_into_its_scratch_folder(setup: Setup) -> None:
    assert safe_py_runner("scripts/write_json.py", ["skills\\x\\tmp\\output.json", "[]"]).ok
    assert read(setup, "skills/x/tmp/output.json") == "[]\n"


def test_no_script_of_a_project_stands_in_for_one_of_these(setup: Setup) -> None:
    (setup.project / "scripts" / "write_file.py").write_text("print('planted')\n", encoding="utf-8")
    plain = ("scripts/write_file.py", "./scripts/write_file.py", "scripts\\write_file.py")
    odd = (
        "scripts//write_file.py",
        "scripts/./write_file.py",
        ".//scripts/write_file.py",
        "docs/../scripts/write_file.py",
    )
    for name in (*plain, *odd, "docs/../scripts/write_file.py", str(setup.project / "scripts" / "write_file.py")):
        result: GatewayResult = safe_py_runner(name, ["a.txt"], stdin_text="x")
        assert result.output.startswith("wrote 1 bytes: ")


def test_the_scripts_run_by_lockstep_s_python_whatever_runs_those_of_the_project(setup: Setup) -> None:
    other = setup.project / "tools" / "python"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\necho other\n", encoding="utf-8")
    other.chmod(0o755)
    gateway = setup.trust("runners: {.py: {argv: [tools/python, '{script}'], limits: {seconds: 60}}}\n")
    assert gateway.run_python("scripts/echo.py").output == "other\n"
    assert gateway.run_python("scripts/write_txt.py", ["a.txt", "x"]).output.startswith("wrote 2 bytes: ")


def test_the_scripts_run_by_themselves_too(setup: Setup) -> None:
    assert sorted(os.listdir(shipped_scripts())) == sorted([*SHIPPED, *_cache()])
    done = subprocess.run(
        [sys.executable, "-I", os.path.join(shipped_scripts(), "write_txt.py"), "a.txt", "x"],
        cwd=setup.project / "docs",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == (f"wrote 2 bytes: {setup.project}/a.txt\n", "")


def _cache() -> list[str]:
    return [name for name in os.listdir(shipped_scripts()) if name == "__pycache__"]
