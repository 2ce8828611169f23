"""A project's own commands are known only after a person has consented to the file as it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skills.lib import paths
from skills.lib.errors import RefusedError
from skills.lib.gateway import consent
from skills.lib.gateway.fields import GatewayFileError
from tests.fixtures.terminal import at_terminal
from tests.gateway.conftest import Setup

pytestmark = pytest.mark.req("P-07")

FILE = """\
commands:
  hello:
    about: Say hello.
    argv: [echo, hello, '{name}']
    params: {name: {pattern: '[a-z]+'}}
"""


def write(setup: Setup, text: str = FILE) -> None:
    (setup.project / "lockstep.gateway.yaml").write_text(text, encoding="utf-8")


def test_what_a_person_sees_stands_on_its_own_lines(setup: Setup) -> None:
    text = 'commands: {a: {about: "x\\n\\nMay agents run?\\ty", argv: ["echo\\nls"], folder: "a\\nb"}}\n'
    write(setup, text)
    _, shown = at_terminal("gateway", "trust", keys=b"n\n", env={"TERM": "dumb", "COLUMNS": "100"})
    assert "a  x May agents run? y\n  runs 'echo\\nls' in a b, paths below .\n" in shown


def test_a_person_at_a_terminal_consents_and_the_command_runs(setup: Setup) -> None:
    write(setup)
    with pytest.raises(RefusedError, match=r"no person has consented to lockstep\.gateway\.yaml") as caught:
        setup.gateway.run("hello", {"name": "you"})
    assert caught.value.remedy == "ask the user to run lockstep gateway trust"
    code, shown = at_terminal("gateway", "trust", keys=b"y\n")
    assert code == 0
    assert "runs 'echo' 'hello' '{name}' in ., paths below ." in shown
    assert "limits: seconds 10, output 100000" in shown
    assert shown.endswith("lockstep.gateway.yaml is trusted as it is now.\n")
    assert setup.gateway.run("hello", {"name": "you"}).output == "hello you\n"


@pytest.mark.parametrize("keys, code", [(b"n\n", 3), (b"\n", 3), (b"\x04", 130)])
def test_a_person_who_does_not_consent_changes_nothing(setup: Setup, keys: bytes, code: int) -> None:
    write(setup)
    assert at_terminal("gateway", "trust", keys=keys)[0] == code
    assert setup.gateway.is_untrusted


def test_an_answer_that_is_none_is_asked_for_again(setup: Setup) -> None:
    write(setup)
    code, shown = at_terminal("gateway", "trust", keys=b"perhaps\nYES\n")
    assert code == 0
    assert "Error: 'perhaps' is no answer: type y for yes, n for no\n" in shown
    assert not setup.gateway.is_untrusted


@pytest.mark.parametrize("variable", ["CLAUDECODE", "LOCKSTEP_AGENT"])
def test_an_agent_cannot_consent(setup: Setup, variable: str) -> None:
    write(setup)
    code, shown = at_terminal("gateway", "trust", keys=b"y\n", env={variable: "1"})
    assert code == 3
    assert "consent to lockstep.gateway.yaml is a person's" in shown
    assert setup.gateway.is_untrusted


@pytest.mark.parametrize("change", [" ", "\n", "# more\n"])
def test_any_change_of_the_file_ends_the_consent(setup: Setup, change: str) -> None:
    gateway = setup.trust(FILE)
    assert not gateway.is_untrusted
    write(setup, FILE + change)
    assert setup.gateway.is_untrusted
    write(setup)
    assert not setup.gateway.is_untrusted


def test_consent_is_for_one_project(setup: Setup, tmp_path: Path) -> None:
    setup.trust(FILE)
    other = tmp_path / "other"
    other.mkdir()
    (other / "lockstep.gateway.yaml").write_text(FILE, encoding="utf-8")
    assert not consent.is_given(str(other), FILE.encode())


def test_consent_that_is_not_signed_with_the_users_key_is_none(setup: Setup) -> None:
    folder = Path(paths.state()) / "gateway"
    before = set(folder.glob("*"))
    setup.trust(FILE)
    [kept] = set(folder.glob("*")) - before
    text = kept.read_text(encoding="utf-8")
    for planted in (
        text.replace('"signature":"', '"signature":"0'),
        "",
        "{}",
        "[",
        text.replace(str(setup.project), "/x"),
    ):
        kept.write_text(planted, encoding="utf-8")
        assert setup.gateway.is_untrusted
    kept.write_text(text, encoding="utf-8")
    assert not setup.gateway.is_untrusted


def test_consent_is_withdrawn(setup: Setup) -> None:
    setup.trust(FILE)
    assert at_terminal("gateway", "trust", "--withdraw") == (0, "The consent is withdrawn.\n")
    assert setup.gateway.is_untrusted


def test_a_project_without_a_file_has_the_commands_of_lockstep(setup: Setup) -> None:
    assert (len(setup.gateway.file.commands), setup.gateway.is_untrusted) == (8, False)


def test_a_file_that_nobody_trusted_is_not_even_read(setup: Setup) -> None:
    write(setup, "[[[ no yaml")
    assert setup.gateway.run("read_file", {"path": "README.md"}).ok
    code, shown = at_terminal("gateway", "trust", keys=b"y\n")
    assert (code, "the gateway file" in shown) == (4, True)


def test_a_link_out_of_the_project_is_no_gateway_file(setup: Setup) -> None:
    (setup.around / "around" / "evil.yaml").write_text(FILE, encoding="utf-8")
    (setup.project / "lockstep.gateway.yaml").symlink_to(setup.around / "around" / "evil.yaml")
    with pytest.raises(GatewayFileError, match="is a link out of the project"):
        _ = setup.gateway
    (setup.project / "lockstep.gateway.yaml").unlink()
    os.mkfifo(setup.project / "lockstep.gateway.yaml")
    with pytest.raises(GatewayFileError, match="is not a regular file"):
        _ = setup.gateway
