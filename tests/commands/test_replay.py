"""``lockstep replay`` of two recorded sessions, or of two folders of them."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from skills.lib.layers.replaying import reading
from tests.commands.conftest import Command
from tests.layers.replaying.rendering import claude, codex, gemini, opencode, qwen

pytestmark = pytest.mark.req("L-07")
SEARCH = {"search": {"pattern": "backoff", "output": "src/retry.py:1:def backoff(): ..."}}
GREP = {"shell": {"command": "grep -rn LIMIT src", "output": "src/retry.py:2:LIMIT = 3"}}
EDIT = {"edit": {"path": "README.md"}}
PASS = {"say": "AC1: PASS - src/retry.py:1"}
GUESS = {"say": "AC1: PASS - src/none.py:1"}
TASK = {"id": "T1", "filesAllowed": ["src/**"]}


@pytest.fixture
def folders(project: Path) -> tuple[Path, Path]:
    """Two folders with two pairs of sessions, of different hosts."""
    before, after = project / "before", project / "after"
    for folder in (before, after):
        folder.mkdir()
    (before / "T1.jsonl").write_text(claude([SEARCH, GREP, EDIT, PASS]))
    (before / "T2.jsonl").write_text(codex([SEARCH, GUESS]))
    (after / "T1.jsonl").write_text(gemini([SEARCH, PASS]))
    (after / "T2.json").write_text(opencode([SEARCH, PASS]))
    (before / "T1.task.json").write_text(json.dumps(TASK))
    return before, after


def test_pairs_are_shown_with_what_was_counted(
    cli: Command, folders: tuple[Path, Path], snapshot: SnapshotAssertion
) -> None:
    shown = cli("replay", "before", "after", "--findings")
    assert (shown.code, shown.err) == (0, "")
    assert "2 pairs: layered is worse in none" in shown.out
    assert shown.out == snapshot


def test_a_layered_session_that_is_worse_is_told_and_refused(cli: Command, folders: tuple[Path, Path]) -> None:
    (folders[1] / "T2.json").write_text(opencode([SEARCH, GREP, GUESS]))
    shown = cli("replay", "before", "after")
    assert shown.code == 3
    assert "2 pairs: layered is worse in 1\n  T2: shell searches 0 → 1\n" in shown.out


def test_a_sum_does_not_hide_a_pair_that_is_worse(cli: Command, folders: tuple[Path, Path]) -> None:
    (folders[1] / "T2.json").write_text(opencode([SEARCH, GREP, PASS]))
    found = json.loads((shown := cli("replay", "before", "after", "--json")).out)
    assert shown.code == 3
    assert found["sum"]["baseline"]["shell_searches"] == found["sum"]["layered"]["shell_searches"] == 1
    assert [pair["worse"] for pair in found["pairs"]] == [[], ["shell_searches"]]
    assert found["holds"] is False


@pytest.mark.parametrize("side, other", [(0, "layered"), (1, "baseline")])
def test_a_session_without_a_partner_is_told(cli: Command, folders: tuple[Path, Path], side: int, other: str) -> None:
    (folders[side] / "T3.jsonl").write_text(qwen([PASS]))
    shown = cli("replay", "before", "after")
    assert shown.code == 3
    assert f"T3 has no partner among the {other} sessions" in shown.out


def test_a_session_that_states_no_verdict_is_not_better_than_one_that_does(
    cli: Command, folders: tuple[Path, Path]
) -> None:
    (folders[1] / "T1.jsonl").write_text(gemini([SEARCH]))
    shown = cli("replay", "before/T1.jsonl", "after/T1.jsonl", "--findings")
    assert shown.code == 3
    assert "after/T1.jsonl: wrong verdicts: criterion 1 has no verdict" in shown.out


def test_a_program_gets_each_finding_with_its_line(cli: Command, folders: tuple[Path, Path]) -> None:
    found = json.loads(cli("replay", "before", "after", "--json").out)
    first = found["pairs"][0]["baseline"]
    assert first["form"] == "claude"
    assert first["findings"] == [
        {"measure": "shell_searches", "number": 5, "what": "grep -rn LIMIT src"},
        {"measure": "files_outside", "number": 7, "what": "README.md"},
    ]
    assert found["pairs"][1]["baseline"]["files_outside"] is None
    assert found["pairs"][1]["baseline"]["unproved_claims"] == 1


def test_a_policy_says_what_it_would_have_stopped_before(cli: Command, folders: tuple[Path, Path]) -> None:
    Path("hygiene.yaml").write_text("""tools: {shell(grep): {needs: ["calls('search') < 0"]}}\n""")
    shown = cli("replay", "before", "after", "--policy", "hygiene.yaml")
    assert shown.code == 0
    assert [line.split()[-1] for line in shown.out.splitlines()[:4]] == ["STOPPED", "1", "0", "1"]
    found = json.loads(cli("replay", "before", "after", "--policy", "hygiene.yaml", "--json").out)
    assert found["policy"] == {"T1": {"allow": 2, "look": 0, "deny": 1}, "T2": {"allow": 1, "look": 0, "deny": 0}}


def test_the_core_skill_s_policy_would_have_stopped_a_recursive_search(
    cli: Command, folders: tuple[Path, Path]
) -> None:
    policy = Path(reading.__file__).parents[3] / "safe-shell-search" / "scripts" / "policy.yaml"
    found = json.loads(cli("replay", "before", "after", "--policy", str(policy), "--json").out)
    assert found["policy"]["T1"] == {"allow": 2, "look": 0, "deny": 1}


def test_one_session_of_a_host_is_held_to_a_policy(cli: Command, folders: tuple[Path, Path]) -> None:
    Path("hygiene.yaml").write_text("""tools: {shell(grep): {needs: ["calls('search') < 0"]}}\n""")
    shown = cli("replay", "before/T1.jsonl", "--policy", "hygiene.yaml", "--stopped")
    assert shown.code == 0
    assert "3 calls: 2 allowed, 0 asked to look first, 1 denied" in shown.out


@pytest.mark.parametrize(
    "words, what",
    [
        (("before", "after/T1.jsonl"), "before is a folder, and after/T1.jsonl is not"),
        (("before", "none"), "before is a folder, and none is not"),
        (("before/none.jsonl", "after/T1.jsonl"), "before/none.jsonl does not exist"),
        (("before/T1.jsonl", "after/T1.jsonl", "--stopped"), "--stopped is for one session"),
        (("before/T1.jsonl", "--findings"), "--task and --findings are for two sessions"),
        (("before/T1.jsonl", "after/T1.jsonl", "--task", "none.json"), "none.json does not exist"),
        (("before", "empty"), "empty has no recorded session"),
        (("before", "twice"), "have one name"),
    ],
)
def test_what_cannot_be_compared_is_said(
    cli: Command, folders: tuple[Path, Path], words: tuple[str, ...], what: str
) -> None:
    Path("empty").mkdir()
    Path("twice").mkdir()
    for name in ("a.json", "a.jsonl"):
        (Path("twice") / name).write_text(claude([PASS]))
    shown = cli("replay", *words)
    assert shown.code == 2
    assert what in shown.err


@pytest.mark.parametrize(
    "task, what",
    [
        ('{"filesAlowed": []}', "a task has no 'filesAlowed'; did you mean filesAllowed?"),
        ('{"filesAllowed": "src"}', "filesAllowed is a list of texts"),
        ('{"expect": {"criteria": {"AC1": "GOOD"}}}', "'GOOD' is no verdict"),
        ('{"expect": {"verdikt": "PASS"}}', "expect has no 'verdikt'"),
        ("[]", "a task is an object"),
        ("{", "this is no JSON"),
        ("[" * 100_000, "nested too deeply"),
        (b"\xff", "is not UTF-8 text"),
    ],
)
def test_a_task_that_cannot_be_used_is_said(
    cli: Command, folders: tuple[Path, Path], task: str | bytes, what: str
) -> None:
    (folders[0] / "T1.task.json").write_bytes(task.encode() if isinstance(task, str) else task)
    shown = cli("replay", "before", "after")
    assert shown.code == 2
    assert "T1.task.json" in shown.err
    assert what in shown.err


GOOD = claude([SEARCH, PASS])


@pytest.mark.parametrize(
    "content, what",
    [
        (b"", "there is nothing in it"),
        (b"\n\n", "there is nothing in it"),
        (b"hello\n", "T1.jsonl:1: this is no JSON"),
        (b'{"tool": "shell"}\n', "T1.jsonl:1: this is of no form that is known"),
        (b"[1, 2]\n", "T1.jsonl:1: this is of no form that is known"),
        (b"\xff\xfe{\x00}\x00", "T1.jsonl:1: this is not UTF-8 text"),
        (b"SQLite format 3\0" + bytes(80), "this is a database, and no session: opencode export SESSION writes one"),
        (GOOD.encode() + b"{]\n{}\n", "T1.jsonl:5: this is no JSON"),
        (
            GOOD.encode() + codex([PASS]).encode(),
            "T1.jsonl:5: this line is of codex, and the file began as one of claude",
        ),
        (GOOD.encode() + b"[" * 100_000 + b"\n", "T1.jsonl:5: this is no JSON: nested too deeply"),
        (GOOD.encode().replace(b"backoff", b"back\0off"), "T1.jsonl:2: this is no JSON"),
    ],
)
def test_a_file_that_is_no_session_is_said_with_its_line(
    cli: Command, folders: tuple[Path, Path], content: bytes, what: str
) -> None:
    (folders[1] / "T1.jsonl").write_bytes(content)
    shown = cli("replay", "before", "after")
    assert shown.code == 2
    assert what in shown.err
    assert "Traceback" not in shown.err


def test_the_forms_that_are_known_are_named(cli: Command, folders: tuple[Path, Path]) -> None:
    (folders[1] / "T1.jsonl").write_text('{"role": "user"}\n')
    shown = cli("replay", "before", "after")
    for form in reading.FORMS:
        assert form.name in shown.err


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.encode().replace(b"\n", b"\r\n"),
        b"\n" + GOOD.encode() + b"\n \n" + b"\0" * 64,
        GOOD.encode() + b'{"type": "x-new-kind", "sessionId": "s"}\n[1]\n"text"\n',
    ],
)
def test_marks_blank_lines_and_unknown_records_do_no_harm(
    cli: Command, folders: tuple[Path, Path], content: bytes
) -> None:
    (folders[1] / "T1.jsonl").write_bytes(content)
    assert cli("replay", "before", "after").code == 0


def test_a_last_line_that_is_cut_off_is_left_out_and_told(cli: Command, folders: tuple[Path, Path]) -> None:
    (folders[1] / "T1.jsonl").write_text(GOOD + '{"type": "assistant", "mess')
    shown = cli("replay", "before", "after")
    assert shown.code == 0
    assert "after/T1.jsonl: its last line is cut off, and was left out" in shown.out


def test_signs_that_a_terminal_obeys_are_not_printed(cli: Command, folders: tuple[Path, Path]) -> None:
    bad = {"shell": {"command": "git \x1b[2Jstatsu\x07 [/red]", "exit": 1, "output": "\x1b]0;x\x07"}}
    (folders[0] / "T1.jsonl").write_text(claude([bad, PASS, {"say": "AC1: PASS - `make \x1b[31mit`"}]))
    shown = cli("replay", "before", "after", "--findings")
    assert "\x1b" not in shown.out
    assert "\x07" not in shown.out


def test_files_that_are_no_files_are_not_opened_and_linked_folders_not_entered(
    cli: Command, folders: tuple[Path, Path]
) -> None:
    (folders[0] / "loop").symlink_to(folders[0], target_is_directory=True)
    shown = cli("replay", "before", "after")
    assert shown.code == 0
    os.mkfifo(folders[0] / "T3.jsonl")
    (folders[1] / "T3.jsonl").write_text(GOOD)
    shown = cli("replay", "before", "after")
    assert shown.code == 2
    assert "T3.jsonl is no file" in shown.err


def test_a_linked_folder_may_be_named(cli: Command, folders: tuple[Path, Path]) -> None:
    Path("linked").symlink_to(folders[0], target_is_directory=True)
    assert cli("replay", "linked", "after").code == 0


def test_a_long_session_is_read_line_by_line(cli: Command, folders: tuple[Path, Path]) -> None:
    talk = claude([{"say": "x" * 100_000}]).splitlines()[-1] + "\n"
    with (folders[1] / "T1.jsonl").open("w") as file:
        file.write(GOOD)
        for _ in range(300):
            file.write(talk)
    tracemalloc.start()
    try:
        assert cli("replay", "before", "after").code == 0
        assert tracemalloc.get_traced_memory()[1] < 20_000_000  # the file has 30 MB
    finally:
        tracemalloc.stop()


def test_a_line_that_is_too_long_is_said_before_it_is_read_whole(
    cli: Command, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LONGEST", 1_000_000)
    (folders[1] / "T1.jsonl").write_text(GOOD + '{"x": "' + "y" * 5_000_000 + '"}\n')
    shown = cli("replay", "before", "after")
    assert shown.code == 2
    assert "after/T1.jsonl:5: the line is longer than 1 MB" in shown.err
