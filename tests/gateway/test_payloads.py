"""Payloads of well-known lists in every parameter of every shipped command: none is run, and nothing benign refused."""

from __future__ import annotations

import json
import os
import re
from typing import Any

import pytest

from skills.lib.errors import EnvironmentProblem, LockstepError, RefusedError, UsageError
from skills.lib.gateway import GatewayResult, writing
from skills.lib.gateway.gateway import shipped_file
from tests.gateway.conftest import SECRET, Setup, fill, payloads

pytestmark = pytest.mark.req("P-07")

BENIGN = {
    "list_files": {"path": "docs"},
    "read_file": {"path": "README.md"},
    "make_directory": {"path": "build/new"},
    "tree": {"path": "docs"},
    "copy_file": {"source": "README.md", "destination": "build/copy.md"},
    "move_file": {"source": "README.md", "destination": "build/moved.md"},
    "python_run": {"script": "scripts/echo.py"},
    "script_run": {"script": "scripts/echo.sh"},
}
FILE_PARAMETERS = [
    (name, parameter)
    for name, values in BENIGN.items()
    for parameter in values
    if name not in ("python_run", "script_run")
]
SHIPPED = shipped_file().commands


def test_there_are_payloads_enough_and_every_shipped_command_is_tried() -> None:
    assert len(set(payloads())) >= 500
    assert set(BENIGN) == set(SHIPPED)
    assert {name: set(values) | {"args"} & set(SHIPPED[name].parameters) for name, values in BENIGN.items()} == {
        name: set(command.parameters) for name, command in SHIPPED.items()
    }


def is_fine(setup: Setup, name: str, parameter: str, text: str) -> bool:
    """Whether a value matches its pattern, has nothing that is blocked, and leads to a place that may be used."""
    command = SHIPPED[name]
    spec = command.parameters[parameter]
    if (
        len(text) > 4_096
        or not re.fullmatch(spec.pattern, text)
        or any(re.search(one, text) for one in command.blocked)
    ):
        return False
    resolved = os.path.realpath(setup.project / text.replace("\\", "/"))
    below = os.path.relpath(resolved, setup.project).split(os.sep)
    if below[0] == ".." or os.path.islink(resolved):  # it is outside, or a loop
        return False
    if spec.path == "read":
        return True
    if spec.path == "put" and os.path.isdir(resolved):
        below = os.path.relpath(os.path.join(resolved, "README.md"), setup.project).split(os.sep)
    lowered = [part.lower() for part in below]
    is_kept = {"node_modules", ".git", ".claude", "lockstep.gateway.yaml", "lockstep.policy.yaml"} & set(lowered)
    in_scratch = lowered[:1] == ["skills"] and lowered[2:3] == ["tmp"]
    return not is_kept and below != ["."] and (lowered[0] not in ("scripts", "skills") or in_scratch)


def outcome(setup: Setup, name: str, values: dict[str, Any]) -> GatewayResult | LockstepError:
    try:
        return setup.gateway.run(name, values)
    except LockstepError as error:
        return error


@pytest.mark.parametrize("name, parameter", FILE_PARAMETERS)
def test_a_payload_in_a_path_is_refused_or_is_only_a_path(setup: Setup, name: str, parameter: str) -> None:
    before = setup.outside()
    tried = refused = 0
    for payload in payloads():
        fill(setup.project)
        text = setup.payload(payload)
        fine = is_fine(setup, name, parameter, text)
        found = outcome(setup, name, {**BENIGN[name], parameter: text})
        is_refused = isinstance(found, RefusedError | UsageError)
        assert is_refused is not fine or "both source and destination" in str(found), (text, found)
        assert isinstance(found, LockstepError) or SECRET not in found.output, text
        tried += 1
        refused += is_refused
    assert (setup.outside(), setup.canary.exists()) == (before, False)
    assert (tried, refused > 300) == (len(payloads()), True)


@pytest.mark.parametrize("name", ["python_run", "script_run"])
def test_a_payload_in_the_place_of_a_script_runs_nothing(setup: Setup, name: str) -> None:
    before = setup.outside()
    for payload in payloads():
        with pytest.raises(LockstepError):
            setup.gateway.run(name, {"script": setup.payload(payload)})
    assert (setup.outside(), setup.canary.exists()) == (before, False)


@pytest.mark.parametrize("name, script", [("python_run", "scripts/echo.py"), ("script_run", "scripts/echo.js")])
def test_every_payload_reaches_a_script_as_one_argument(setup: Setup, name: str, script: str) -> None:
    given = [setup.payload(payload) for payload in payloads() if "\0" not in payload]
    assert len(given) > 480
    before = setup.outside()
    result = setup.gateway.run(name, {"script": script, "args": given})
    assert (result.exit, result.errors) == (0, "")
    assert json.loads(result.output)[0] == given
    assert (setup.outside(), setup.canary.exists()) == (before, False)


def test_every_payload_reaches_a_shell_script_as_one_argument(setup: Setup) -> None:
    given = [setup.payload(payload) for payload in payloads() if "\0" not in payload]
    before = setup.outside()
    result = setup.gateway.run("script_run", {"script": "scripts/echo.sh", "args": given})
    assert result.output.split("\0")[:-1] == given
    assert (setup.outside(), setup.canary.exists()) == (before, False)


def test_an_argument_with_a_zero_byte_is_refused(setup: Setup) -> None:
    for payload in payloads():
        if "\0" in payload:
            assert isinstance(outcome(setup, "python_run", {**BENIGN["python_run"], "args": [payload]}), RefusedError)


def test_every_payload_reaches_standard_input_and_a_listed_variable_as_it_is(setup: Setup) -> None:
    given = [setup.payload(payload) for payload in payloads() if "\0" not in payload and len(payload) < 1_000]
    assert len(given) > 480
    for part in (given[::2], given[1::2]):
        text = "\x01".join(part)
        result = setup.gateway.run("python_run", {"script": "skills/x/run.py"}, {"SKILL_INPUT": text}, stdin_text=text)
        _, stdin, environment = json.loads(result.output)
        assert stdin == text
        assert environment["SKILL_INPUT"] == text
    assert not setup.canary.exists()


def test_a_payload_is_no_name_of_a_variable_a_command_or_a_parameter(setup: Setup) -> None:
    gateway = setup.gateway
    for payload in payloads():
        text = setup.payload(payload)
        with pytest.raises(RefusedError, match="takes no variable"):
            gateway.run("python_run", BENIGN["python_run"], {text: "x"})
        with pytest.raises(UsageError, match="has no command"):
            gateway.run(text, {})
        with pytest.raises(UsageError, match="has no parameter"):
            gateway.run("read_file", {"path": "README.md", text: "x"})
    assert not setup.canary.exists()


def test_a_payload_in_the_path_of_a_write_script_writes_nothing_outside(setup: Setup) -> None:
    before = setup.outside()
    for payload in payloads():
        text = setup.payload(payload)
        try:
            writing.write(str(setup.project), text, "x")
        except (RefusedError, EnvironmentProblem):
            continue
        assert is_fine(setup, "copy_file", "destination", text) or re.search(r"[$%~&]", text), text
    assert (setup.outside(), setup.canary.exists()) == (before, False)


def test_a_payload_in_a_command_of_a_project_is_one_word(setup: Setup) -> None:
    gateway = setup.trust(
        "commands:\n"
        "  echo:\n"
        '    argv: ["{python}", scripts/echo.py, "{words}", "--one={one}"]\n'
        "    params: {words: {pattern: '-?[^\\x00]*', many: true}, one: {pattern: '-?[^\\x00]*'}}\n"
    )
    given = [setup.payload(payload) for payload in payloads() if "\0" not in payload]
    result = gateway.run("echo", {"words": given, "one": given[0]})
    assert json.loads(result.output)[0] == [*given, f"--one={given[0]}"]
    for text in given:
        assert gateway.prepare("echo", {"one": text}).argv[-1] == f"--one={text}"
    assert not setup.canary.exists()
