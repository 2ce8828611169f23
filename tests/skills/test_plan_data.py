"""A plan as data: its form and references, its versions under races and kills, its diffs, copies and waves."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.planner.scripts.plandata import diffs, store
from skills.planner.scripts.plandata.command import main
from skills.planner.scripts.plandata.faults import PlanError
from skills.planner.scripts.plandata.stages import faults_at
from skills.planner.scripts.plandata.waves import cycle, waves
from tests.fixtures import small_project
from tests.fixtures.small_project import PLAN_DATA, plan, write

if TYPE_CHECKING:
    from collections.abc import Callable

WHERE = "plans/shop"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small project, as working directory."""
    write(tmp_path, small_project.FILES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def say(root: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """plan_data.py in this process: its exit code and what it prints."""

    def call(*words: str) -> tuple[int, str]:
        code = main(list(words))
        return code, capsys.readouterr().out

    return call


@pytest.fixture
def saved(say: Callable[..., tuple[int, str]]) -> Callable[..., tuple[int, str]]:
    """The same, with a first version of the small project's plan saved."""
    save(say, plan())
    return say


def save(say: Callable[..., tuple[int, str]], text: object, name: str = "draft.json") -> tuple[int, str]:
    Path(name).write_text(json.dumps(text), encoding="utf-8")
    return say("save", WHERE, name)


def copy(milestone: str, path: str, content: str | bytes) -> None:
    file = Path(WHERE, ".changes", milestone, path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())


def copies() -> None:
    """What the developers and the writer of the small project hand in."""
    for milestone, files in small_project.DONE.items():
        for path, text in files.items():
            copy(milestone, path, text)
        copy(milestone, "COMMENTS.json", json.dumps(small_project.COMMENTS.get(milestone, {})))


# The form


def test_the_example_is_valid_and_every_property_is_described(say: Callable[..., tuple[int, str]]) -> None:
    _, example = say("example")
    assert save(say, json.loads(example)) == (0, "version 1: plans/shop/plan.1.json\n")
    _, schema = say("schema")
    assert described(json.loads(schema)) > 50


def described(schema: Any) -> int:
    """How many properties there are; AssertionError for one that does not say what it is."""
    if not isinstance(schema, dict):
        return 0
    count = 0
    for name, inner in schema.get("properties", {}).items():
        assert len(inner["description"]) > 5, name
        count += 1 + described(inner)
    if schema.get("type") == "object":
        assert schema["additionalProperties"] is False
    return count + sum(described(inner) for inner in [schema.get("items"), *schema.get("$defs", {}).values()])


def test_every_fault_is_reported_in_one_pass_with_its_place_and_what_is_right(
    say: Callable[..., tuple[int, str]],
) -> None:
    text = plan()
    del text["risks"]
    text["titel"] = "x"
    text["milestones"][0]["intent"][0]["decisions"] = ["D-010"]
    text["milestones"][0]["intent"][0]["file"] = "shop/price.py"
    text["milestones"][1]["depends_on"] = ["M-01"]
    text["milestones"][1]["files"][0] = "../export.py"
    text["milestones"][2]["files"].append("setup.py")
    text["decisions"][1]["id"] = "D-001"
    code, told = save(say, text)
    assert code == 1
    for line in (
        "/: risks is missing (valid: What may go wrong.)",
        "/: 'titel' is not part of it (valid: title is nearest,",
        "/milestones/0/intent/0/decisions/0: there is no decision 'D-010' (valid: D-001 is nearest",
        "/milestones/0/intent/0/file: 'shop/price.py' is not among the files of M-001 (valid: shop/prices.py is",
        "/milestones/1/depends_on/0: M-002 depends on 'M-01', which is no milestone (valid: M-001 is nearest",
        "/milestones/1/files/0: '../export.py' is no path of the project: leads upwards",
        "/milestones/2/files/1: 'setup.py' is no document, so this milestone is not one of documentation",
        "/decisions/1/id: D-001 is taken by /decisions/0",
        "plan_data.py: draft.json is not at stage draft: 11 faults, above",
    ):
        assert line in told
    assert not Path(WHERE).exists()


@pytest.mark.parametrize(
    "change, fault",
    [
        (lambda text: text["milestones"][0].update(tests=[]), "/milestones/0/tests: M-001 is a code milestone and has"),
        (lambda text: text["milestones"][0].update(intent=[]), "/milestones/0/intent: M-001 is a code milestone"),
        (
            lambda text: text["milestones"][2].update(acceptance=[]),
            "/milestones/2/acceptance: M-003 is a documentation",
        ),
        (lambda text: text["testing"]["commands"].update(test=[]), "/testing/commands/test: there is no test command"),
        (
            lambda text: text["testing"]["commands"].update(test=[["make", "test"], ["true"]]),
            "/testing/commands/test/1: 'true' ends with 0 whatever was done, and proves nothing",
        ),
        (
            lambda text: text["testing"]["commands"].update(lint=[["sh", "-c", "ruff check || :"]]),
            "/testing/commands/lint/0: 'sh -c ruff check || :' ends with 0 whatever was done",
        ),
        (
            lambda text: text["testing"]["commands"].update(types=[["python3", "-c", "pass"]]),
            "/testing/commands/types/0: 'python3 -c pass' ends with 0 whatever was done",
        ),
        (lambda text: text["decisions"][1].update(source="guess"), '/decisions/1/source: "guess" is not one of'),
        (lambda text: text["milestones"][0].update(depends_on=["M-002"]), "in a circle: M-001 -> M-002 -> M-001"),
        (lambda text: text["milestones"][0].update(depends_on=["M-001"]), "M-001 depends on itself"),
        (lambda text: text["milestones"][0].update(depends_on=["M-003"]), "which is of documentation and comes after"),
        (lambda text: text["milestones"][0]["files"].append("Shop/Prices.py"), "stands twice in the files of M-001"),
        (lambda text: text["milestones"][0]["files"].append(".git/config"), "lies in .git, which no plan changes"),
        (lambda text: text["milestones"][0]["files"].append("vendor/.GIT/hooks/x"), "lies in .GIT, which no plan"),
        (lambda text: text["milestones"][0]["files"].append("a/.lockstep/runs.db"), "lies in .lockstep, which no plan"),
        (lambda text: text["milestones"][2]["files"].append("docs/live.mdx"), "'docs/live.mdx' is no document"),
        (lambda text: text["milestones"][0]["files"].append("REMOVED"), "keeps for itself"),
        (lambda text: text.update(title="   "), '/title: "   " has 3 characters, and at least 5 are valid'),
    ],
)
def test_a_draft_that_cannot_be_worked_from_is_refused(
    say: Callable[..., tuple[int, str]], change: Callable[[dict[str, Any]], None], fault: str
) -> None:
    text = plan()
    change(text)
    code, told = save(say, text)
    assert code == 1
    assert fault in told


@pytest.mark.parametrize(
    "content, why",
    [
        (b"{", "is not JSON"),
        (b"\xff\xfe", "is not UTF-8 text: byte 0"),
        (b'{"schema": 1, "schema": 1}', "the name 'schema' stands twice"),
        (b'{"schema": NaN}', "NaN is no JSON number"),
        (b'{"title": "\\ud800"}', "half of a surrogate pair"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", "/: [] is an array, not an object"),
    ],
)
def test_what_is_no_plan_at_all_is_reported_without_a_traceback(
    say: Callable[..., tuple[int, str]], content: bytes, why: str
) -> None:
    Path("draft.json").write_bytes(content)
    code, told = say("save", WHERE, "draft.json")
    assert code == 1
    assert why in told


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*sorted(plan()), "id"]), inner, max_size=4)
    ),
)


@given(where=st.lists(st.integers(0, 9), max_size=5), value=anything)
def test_the_faults_of_a_plan_of_any_shape_are_reported(where: list[int], value: object) -> None:
    text: Any = plan()
    at: Any = text
    for step in where:
        keys = list(at) if isinstance(at, dict) else list(range(len(at))) if isinstance(at, list) else []
        if not keys or not isinstance(at[keys[step % len(keys)]], (dict, list)):
            break
        at = at[keys[step % len(keys)]]
    if isinstance(at, dict):
        at[next(iter(at), "x")] = value
    else:
        at.append(value)
    for fault in faults_at(text, "draft", "/nowhere"):
        assert fault.what
        assert str(fault).startswith("/")


# Versions


def test_each_save_is_a_version_and_the_same_content_is_none(saved: Callable[..., tuple[int, str]]) -> None:
    assert save(saved, plan()) == (0, "version 1 (nothing has changed): plans/shop/plan.1.json\n")
    backwards = dict(reversed(plan().items()))
    assert save(saved, backwards)[1].startswith("version 1 (nothing has changed)")
    assert save(saved, {**plan(), "title": "Another title"}) == (0, "version 2: plans/shop/plan.2.json\n")
    assert json.loads(Path(WHERE, "plan.1.json").read_text())["title"] == "Right discounts, and orders as CSV"
    assert Path(WHERE, "plan.md").read_text().startswith("# Another title\n\nVersion 2,")
    _, told = saved("diff", WHERE, "1", "2")
    assert '- "title": "Right discounts, and orders as CSV"' in told
    assert '+ "title": "Another title"' in told
    assert saved("show", WHERE, "--version", "7") == (2, "plan_data.py: there is no version 7; there are 1, 2\n")


def test_a_milestone_is_shown_with_what_it_rests_on(saved: Callable[..., tuple[int, str]]) -> None:
    _, told = saved("show", WHERE, "--milestone", "M-002")
    assert "D-002 (assumed) A name that begins like a formula gets a quote in front. Because: A spreadsheet" in told
    assert "D-001" not in told
    assert "C-001 No dependencies." in told
    assert json.loads(saved("show", WHERE, "--milestone", "M-002", "--json")[1])["id"] == "M-002"
    code, told = saved("show", WHERE, "--milestone", "M-02")
    assert (code, told) == (2, "plan_data.py: there is no milestone 'M-02'; valid: M-002 is nearest, M-001, M-003\n")


def test_what_is_assumed_stands_at_the_head_of_the_readable_plan(saved: Callable[..., tuple[int, str]]) -> None:
    assert "Assumed, confirmed by nobody: D-002.\n" in Path(WHERE, "plan.md").read_text()
    Path(WHERE, "plan.md").write_text("spoilt")
    assert saved("render", WHERE) == (0, "plans/shop/plan.md\n")
    assert "Assumed, confirmed by nobody: D-002.\n" in Path(WHERE, "plan.md").read_text()


@pytest.mark.parametrize("where", ["..", ".", "/tmp/x", "plans/../../x"])
def test_a_plan_is_kept_under_the_root(say: Callable[..., tuple[int, str]], where: str) -> None:
    Path("draft.json").write_text(json.dumps(plan()))
    code, told = say("save", where, "draft.json")
    assert code == 2
    assert "is not a folder under the project's root" in told


def test_each_fault_is_reported_once(say: Callable[..., tuple[int, str]]) -> None:
    code, told = save(say, {"schema": 1})
    assert (code, told.count("risks is missing")) == (1, 1)
    assert told.endswith("plan_data.py: draft.json is not at stage draft: 10 faults, above\n")


@pytest.mark.parametrize("where", ["taken", "taken/below", "x" * 300])
def test_a_folder_that_cannot_be_made_is_reported_without_a_traceback(
    say: Callable[..., tuple[int, str]], where: str
) -> None:
    Path("draft.json").write_text(json.dumps(plan()))
    Path("taken").write_text("a file")
    code, told = say("save", where, "draft.json")
    assert (code, len(told.splitlines())) == (4 if "x" in where else 2, 1)


@pytest.mark.parametrize("content", [None, b"{", b"\xff"], ids=["pipe", "cut", "bytes"])
def test_a_damaged_version_is_reported_and_the_next_one_takes_its_place(
    saved: Callable[..., tuple[int, str]], content: bytes | None
) -> None:
    damaged = Path(WHERE, "plan.2.json")
    if content is None:
        os.mkfifo(damaged)
    else:
        damaged.write_bytes(content)
    code, told = saved("check", WHERE)
    assert code in (1, 4)
    assert "plan.2.json" in told
    assert save(saved, plan()) == (0, "version 3: plans/shop/plan.3.json\n")
    assert saved("check", WHERE)[0] == 0


def test_no_version_is_saved_that_would_not_be_found_again(saved: Callable[..., tuple[int, str]]) -> None:
    os.rename(Path(WHERE, "plan.1.json"), Path(WHERE, "plan.999999.json"))
    code, told = save(saved, {**plan(), "title": "Another title"})
    assert (code, told.startswith("plan_data.py: there is no version after 999999")) == (1, True)


def test_a_readable_plan_that_cannot_be_written_is_reported(say: Callable[..., tuple[int, str]]) -> None:
    Path(WHERE, "plan.md").mkdir(parents=True)
    code, told = save(say, plan())
    assert (code, told.startswith("plan_data.py: version 1 is kept, and plan.md beside it cannot be")) == (4, True)
    assert sorted(os.listdir(WHERE)) == ["plan.1.json", "plan.md"]


@pytest.mark.parametrize("kind", ["link", "folder", "binary", "pipe"])
def test_a_file_that_no_plan_can_change_is_reported_before_code_is_written_for_it(
    say: Callable[..., tuple[int, str]], root: Path, kind: str
) -> None:
    readme = root / "README.md"
    readme.rename(root / "moved.md")
    if kind == "link":
        readme.symlink_to("moved.md")
    elif kind == "folder":
        readme.mkdir()
    elif kind == "binary":
        readme.write_bytes(b"\0")
    else:
        os.mkfifo(readme)
    code, told = save(say, plan())
    assert (code, told.startswith("/milestones/2/files/0: README.md cannot be changed by a plan: ")) == (1, True)


def test_a_pipe_among_the_copies_is_reported(saved: Callable[..., tuple[int, str]]) -> None:
    copies()
    os.mkfifo(Path(WHERE, ".changes", "M-001", "shop", "pipe"))
    code, told = saved("collect", WHERE)
    assert code == 1
    assert ".changes/M-001/shop/pipe: it is no regular file" in told


def test_no_file_is_planned_below_a_file_and_nothing_is_applied_by_halves(
    saved: Callable[..., tuple[int, str]], root: Path
) -> None:
    draft = plan()
    one = draft["milestones"][0]
    one["files"] += ["out", "out/below"]
    one["changes"] = [
        {"id": f"CH-00{at}", "file": path, "diff": f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n", "comments": []}
        for at, path in enumerate(("out", "out/below"), 1)
    ]
    assert save(saved, draft)[0] == 0
    _, told = saved("check", WHERE, "--stage", "coded")
    assert "CH-002 (M-001) does not fit out/below: out is a file, and no folder to put it in" in told
    code, told = saved("apply", WHERE, "M-001")
    assert (code, told) == (4, "plan_data.py: out/below cannot be written: File exists\n")
    assert not (root / "out").exists()


def test_links_are_refused(saved: Callable[..., tuple[int, str]], root: Path) -> None:
    os.symlink(root / "plans", root / "linked")
    code, told = saved("check", "linked/shop")
    assert (code, told) == (2, "plan_data.py: linked is a link; a plan is kept in real folders\n")
    os.rename(Path(WHERE, "plan.1.json"), "elsewhere.json")
    os.symlink(root / "elsewhere.json", Path(WHERE, "plan.1.json"))
    code, told = saved("check", WHERE)
    assert code == 4
    assert "plan.1.json is a link" in told


def test_of_many_at_once_one_writes_each_version_and_nobody_loses_anything(root: Path) -> None:
    """Each of sixteen processes saves its own plan on top of version 1: one wins, the others get an error."""
    Path("draft.json").write_text(json.dumps(plan()))
    small_project.plan_data(root, "save", WHERE, "draft.json")
    folder, titles = str(root / WHERE), [f"The title number {at}" for at in range(16)]

    def attempt(title: str) -> str:
        try:
            return str(store.save(folder, {**plan(), "title": title}, 1).version)
        except PlanError as error:
            return error.what

    with ThreadPoolExecutor(16) as pool:
        told = list(pool.map(attempt, titles))
    [winner] = [title for title, answer in zip(titles, told, strict=True) if answer == "2"]
    assert json.loads(Path(WHERE, "plan.2.json").read_text())["title"] == winner
    lost = "version 2 was written by somebody else meanwhile, and this one was not saved"
    assert sum(answer.startswith(lost) for answer in told) == 15
    assert sorted(os.listdir(WHERE)) == [".parts", "plan.1.json", "plan.2.json", "plan.md"]


def test_processes_that_save_one_after_another_never_write_a_version_twice(root: Path) -> None:
    """Eight processes save different plans at once: each wins a version of its own or says that it did not."""
    started = []
    for at in range(8):
        Path(f"draft{at}.json").write_text(json.dumps({**plan(), "title": f"The title number {at}"}))
        words = [sys.executable, str(PLAN_DATA), "save", WHERE, f"draft{at}.json"]
        started.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
    told = [process.communicate(timeout=60)[0] for process in started]
    won = {text.split(":")[0]: at for at, text in enumerate(told) if text.startswith("version")}
    assert len(won) == sum(process.returncode == 0 for process in started)
    for version, at in won.items():
        content = json.loads(Path(WHERE, f"plan.{version.split()[1]}.json").read_text())
        assert content["title"] == f"The title number {at}"
    assert store.versions(WHERE) == list(range(1, len(won) + 1))


def test_a_save_that_is_killed_leaves_whole_versions_or_none(root: Path) -> None:
    """kill -9 after ever longer delays: every version that is there can be read, and the next save works."""
    big = {**plan(), "invisible_knowledge": ["so it is " * 400] * 50}
    for at in range(12):
        Path("draft.json").write_text(json.dumps({**big, "title": f"The title number {at}"}))
        process = subprocess.Popen(
            [sys.executable, str(PLAN_DATA), "save", WHERE, "draft.json"], stdout=subprocess.DEVNULL
        )
        time.sleep(0.05 + at * 0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for version in store.versions(WHERE) if Path(WHERE).exists() else ():
            assert store.load(WHERE, version)[1]["invisible_knowledge"] == big["invisible_knowledge"]
    Path("draft.json").write_text(json.dumps(plan()))
    assert small_project.plan_data(root, "save", WHERE, "draft.json").startswith("version ")
    assert Path(WHERE, "plan.md").read_text().startswith("# Right discounts, and orders as CSV\n")


# Diffs

LINES = st.sampled_from(
    ["a", "b", "c", "", "def f(x):", "@@ -1 +1 @@", "\\ No newline at end of file", "x\r", "\x0c", " "]
)
texts = st.none() | st.lists(LINES, max_size=30).flatmap(
    lambda lines: st.sampled_from(["\n".join(lines), "\n".join([*lines, ""])])
)
distinct = st.none() | st.lists(st.text("abcd\r\u2028", min_size=1, max_size=4), unique=True, max_size=30).flatmap(
    lambda lines: st.sampled_from(["\n".join(lines), "\n".join([*lines, ""])])
)


@given(before=texts, after=texts)
def test_a_diff_leads_from_one_text_to_the_other(before: str | None, after: str | None) -> None:
    diff = diffs.diff_of("src/a b.py", before, after)
    if before == after:
        assert diff == ""
    else:
        assert diffs.read(diff).path == "src/a b.py"
        assert diffs.standing(diff, before) == ("to do", after)


@given(before=distinct, after=distinct)
def test_a_diff_that_is_in_the_text_already_is_known_and_left_alone(before: str | None, after: str | None) -> None:
    diff = diffs.diff_of("a.py", before, after)
    if before != after:
        assert diffs.standing(diff, after) == ("done", after)


def test_a_diff_is_as_other_tools_read_it(tmp_path: Path) -> None:
    before = "one\r\ntwo\r\n\ndef f():\n    a\n    b\n    c\n    d\n    old"
    after = "one\r\n2\r\n\ndef f():\n    a\n    b\n    c\n    d\n    new"
    diff = diffs.diff_of("a.py", before, after)
    assert diff == (
        "--- a/a.py\n+++ b/a.py\n@@ -1,9 +1,9 @@\n one\r\n-two\r\n+2\r\n \n def f():\n     a\n     b\n     c\n     d\n"
        "-    old\n\\ No newline at end of file\n+    new\n\\ No newline at end of file\n"
    )
    (tmp_path / "a.py").write_bytes(before.encode())
    subprocess.run(["git", "apply", "--unsafe-paths", "-"], cwd=tmp_path, input=diff.encode(), check=True)
    assert (tmp_path / "a.py").read_bytes() == after.encode()


def test_a_hunk_names_the_function_around_it_and_is_found_if_the_file_has_moved_on() -> None:
    body = "".join(f"    step{at}()\n" for at in range(9))
    before = f"def run():\n{body}"
    diff = diffs.diff_of("a.py", before, before.replace("step7", "leap"))
    assert "@@ -6,5 +6,5 @@ def run():\n" in diff
    moved = f"import os\n\n\n{before}"
    assert diffs.apply(diff, moved) == moved.replace("step7", "leap")
    with pytest.raises(ValueError, match=r"piece 1 of 1 \(line 9: 'step7\(\)'\) finds no single place"):
        diffs.apply(diff, before.replace("step6", "other"))
    with pytest.raises(ValueError, match="finds no single place"):
        diffs.apply(diff, moved + moved)


@pytest.mark.parametrize(
    "diff, why",
    [
        ("", "does not begin with the lines"),
        ("--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "do not name one file"),
        ("--- a/x\n+++ b/x\n", "it changes nothing"),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n+b\n", "a hunk says 2 and 1 lines and has 1 and 1"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n*b\n", "line 5 begins with none of"),
        ("--- a/x\n+++ b/x\nrest unchanged\n", "line 3 is not the head of a hunk"),
    ],
)
def test_what_is_no_diff_is_said_to_be_none(diff: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        diffs.read(diff)


# Copies


def test_copies_become_the_changes_of_a_plan_that_is_then_documented(saved: Callable[..., tuple[int, str]]) -> None:
    code, told = saved("check", WHERE, "--stage", "coded")
    assert code == 1
    assert "/milestones/0/changes: M-001 has no change of shop/prices.py (valid: a copy of it as it will be at" in told
    copies()
    code, told = saved("collect", WHERE)
    assert (code, told) == (
        0,
        "version 2: plans/shop/plan.2.json\n"
        "M-001 CH-001 shop/prices.py +3 -1\n"
        "M-001 CH-002 tests/test_prices.py +3 -0\n"
        "M-002 CH-003 shop/export.py +13 -0\n"
        "M-002 CH-004 tests/test_export.py +19 -0\n"
        "M-003 CH-005 README.md +4 -1\n",
    )
    code, told = saved("check", WHERE, "--stage", "documented")
    assert (code, told[:-17]) == (0, "plan.2.json is at stage documented: 3 milestones, content ")
    assert saved("collect", WHERE)[1].startswith("version 2 (nothing has changed)")


def test_a_reason_that_nobody_wrote_down_keeps_a_plan_from_being_documented(
    saved: Callable[..., tuple[int, str]],
) -> None:
    copies()
    Path(WHERE, ".changes/M-002/COMMENTS.json").unlink()
    saved("collect", WHERE)
    assert saved("check", WHERE, "--stage", "coded")[0] == 0
    code, told = saved("check", WHERE, "--stage", "documented")
    assert code == 1
    assert "/milestones/1/changes/0/comments: CH-003 rests on D-002, and no comment says the reason" in told


def test_the_changes_put_into_the_project_make_it_what_the_copies_say(
    saved: Callable[..., tuple[int, str]], root: Path
) -> None:
    copies()
    saved("collect", WHERE)
    for milestone, files in small_project.DONE.items():
        told = "".join(f"written: {path}\n" for path in files)
        assert saved("apply", WHERE, milestone) == (0, told)
        assert saved("apply", WHERE, milestone) == (0, told.replace("written", "there"))
        for path, text in files.items():
            assert (root / path).read_text() == text
    assert saved("check", WHERE, "--stage", "documented")[0] == 0
    # What is in the tree already is not forgotten by a plan that is collected again.
    assert saved("collect", WHERE)[1].startswith("version 2 (nothing has changed)")


def test_a_tree_that_has_moved_on_is_reported_and_nothing_is_written(saved: Callable[..., tuple[int, str]]) -> None:
    copies()
    saved("collect", WHERE)
    Path("shop/prices.py").write_text("def total(lines):\n    return 0\n")
    code, told = saved("check", WHERE, "--stage", "coded")
    assert code == 1
    assert "/milestones/0/changes/0/diff: CH-001 (M-001) does not fit shop/prices.py: piece 1 of 1 (line 6:" in told
    code, told = saved("apply", WHERE, "M-001")
    assert code == 1
    assert "plan_data.py: no change of M-001 was applied, for the tree is not as planned: 1 fault, above" in told
    assert Path("tests/test_prices.py").read_text() == small_project.TEST_PRICES


def test_files_are_removed_and_empty_ones_made(saved: Callable[..., tuple[int, str]]) -> None:
    text = plan("M-001")
    text["milestones"][0]["files"] += ["shop/orders.py", "shop/empty.py"]
    save(saved, text)
    copies()
    for other in ("M-002", "M-003"):
        subprocess.run(["rm", "-r", f"{WHERE}/.changes/{other}"], check=True)
    copy("M-001", "REMOVED", "shop/orders.py\n\n")
    copy("M-001", "shop/empty.py", "")
    assert "M-001 CH-001 shop/empty.py +0 -0\nM-001 CH-002 shop/orders.py +0 -20\n" in saved("collect", WHERE)[1]
    told = saved("apply", WHERE, "M-001")[1]
    assert "written: shop/empty.py\nremoved: shop/orders.py\n" in told
    assert Path("shop/empty.py").read_bytes() == b""
    assert not Path("shop/orders.py").exists()
    assert saved("apply", WHERE, "M-001")[1].count("there: ") == 4


@pytest.mark.parametrize(
    "path, content, why",
    [
        ("shop/prize.py", b"x\n", "it is not among the files of M-001 (valid: shop/prices.py is nearest"),
        ("shop/prices.py", b"\xff", "it is not UTF-8 text (byte 0); a plan changes texts alone"),
        ("shop/prices.py", b"a\0b", "it has a zero byte"),
        ("REMOVED", b"tests/test_prices.py\n", "is named as removed, and there is a copy of it"),
        ("REMOVED", b"shop/none.py\n", ".changes/M-001/shop/none.py: it is not among the files of M-001"),
        ("COMMENTS.json", b"[]", "it is not an object of lists of texts"),
        (
            "COMMENTS.json",
            b'{"shop/orders.py": ["x"]}',
            "it has comments on 'shop/orders.py', of which there is no copy",
        ),
        ("../M-009/x.py", b"x\n", ".changes/M-009: it is not the id of a milestone of this plan"),
    ],
)
def test_copies_that_cannot_be_collected_are_named(
    saved: Callable[..., tuple[int, str]], path: str, content: bytes, why: str
) -> None:
    copies()
    copy("M-001", path, content)
    code, told = saved("collect", WHERE)
    assert code == 1
    assert why in told
    assert store.versions(WHERE) == [1]


def test_a_copy_that_is_a_link_is_refused(saved: Callable[..., tuple[int, str]], root: Path) -> None:
    copies()
    Path(WHERE, ".changes/M-001/shop/prices.py").unlink()
    os.symlink("/etc/passwd", Path(WHERE, ".changes/M-001/shop/prices.py"))
    code, told = saved("collect", WHERE)
    assert code == 1
    assert ".changes/M-001/shop/prices.py: shop/prices.py is a link; links are not followed" in told


def shared(say: Callable[..., tuple[int, str]], first: str, second: str) -> tuple[int, str]:
    """Have two milestones hand in copies of the same file."""
    text = plan("M-001", "M-002")
    text["milestones"][1]["files"].append("shop/prices.py")
    save(say, text)
    copy("M-001", "shop/prices.py", first)
    copy("M-002", "shop/prices.py", second)
    return say("collect", WHERE)


HEAD = "import math\n\n\n"
TAIL = "\n\ndef nothing():\n    return 0\n"


@pytest.mark.parametrize("begun_with", ["the copy of the first", "the working tree"])
def test_two_milestones_change_one_file_whichever_the_second_was_begun_with(
    saved: Callable[..., tuple[int, str]], begun_with: str
) -> None:
    first = HEAD + small_project.PRICES
    second = (first if begun_with == "the copy of the first" else small_project.PRICES) + TAIL
    assert shared(saved, first, second)[0] == 0
    _, text = store.load(WHERE)
    assert text["milestones"][1]["changes"][0]["diff"].count("\n+") == 5
    saved("apply", WHERE, "M-001")
    saved("apply", WHERE, "M-002")
    assert Path("shop/prices.py").read_text() == HEAD + small_project.PRICES + TAIL


def test_two_milestones_that_change_the_same_lines_are_to_be_made_one(saved: Callable[..., tuple[int, str]]) -> None:
    code, told = shared(saved, small_project.FIXED_PRICES, small_project.PRICES.replace("round", "int"))
    assert code == 1
    assert ".changes/M-002/shop/prices.py: it was begun without what M-001 does to the file" in told
    assert "or have one milestone do both" in told


# Waves


@st.composite
def milestones(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Milestones that depend on earlier ones, in any order, with files that some of them share."""
    made = []
    for at in range(1, draw(st.integers(1, 9)) + 1):
        before = [f"M-{other:03}" for other in range(1, at)]
        needs = draw(st.lists(st.sampled_from(before), unique=True, max_size=3)) if before else []
        files = draw(st.lists(st.sampled_from(["a.py", "A.py", "b.py", "c.py", f"own{at}.py"]), min_size=1, max_size=3))
        made.append({"id": f"M-{at:03}", "depends_on": needs, "files": files})
    return draw(st.permutations(made))


@given(milestones())
def test_waves_keep_dependencies_and_files_apart_and_leave_nothing_out(made: list[dict[str, Any]]) -> None:
    by_id = {one["id"]: one for one in made}
    planned = waves(made)
    assert sorted(name for wave in planned for name in wave) == sorted(by_id)
    done: set[str] = set()
    for wave in planned:
        assert wave == sorted(wave)
        files = [path.casefold() for name in wave for path in {file.casefold() for file in by_id[name]["files"]}]
        assert len(files) == len(set(files))
        for name in wave:
            assert set(by_id[name]["depends_on"]) <= done
        done |= set(wave)


@given(milestones(), st.data())
def test_a_circle_is_found_and_printed(made: list[dict[str, Any]], data: st.DataObject) -> None:
    assert cycle(made) == []
    last = max(made, key=lambda one: str(one["id"]))
    first = data.draw(st.sampled_from([last, *[one for one in made if one["id"] in last["depends_on"]]]))
    first["depends_on"] = [*first["depends_on"], last["id"]]
    found = cycle(made)
    needs = {one["id"]: one["depends_on"] for one in made}
    assert found[0] == found[-1]
    assert all(after in needs[before] for before, after in itertools.pairwise(found))
    with pytest.raises(PlanError, match="in a circle: M-"):
        waves(made)


def test_of_two_that_share_a_file_the_earlier_id_goes_first(saved: Callable[..., tuple[int, str]]) -> None:
    text = plan()
    text["milestones"][1].update(depends_on=[], files=["shop/export.py", "tests/test_export.py", "Shop/prices.py"])
    save(saved, text)
    assert saved("waves", WHERE) == (0, "code 1: M-001\ncode 2: M-002\ndocumentation 1: M-003\n")
    made = '{"code": [["M-001"], ["M-002"]], "documentation": [["M-003"]]}'
    assert saved("waves", WHERE, "--json") == (0, made + "\n")
    assert saved("code", WHERE, "--json") == (0, '["M-001", "M-002"]\n')


def test_a_check_can_be_had_as_json(saved: Callable[..., tuple[int, str]]) -> None:
    assert json.loads(saved("check", WHERE, "--json")[1]) == {"ok": True, "version": 1, "stage": "draft", "faults": []}
    told = json.loads(saved("check", WHERE, "--stage", "coded", "--json")[1])
    assert told["faults"][0] == {
        "at": "/milestones/0/changes",
        "what": "M-001 has no change of shop/prices.py",
        "valid": "a copy of it as it will be at .changes/M-001/shop/prices.py, then collect",
    }


@pytest.mark.req("S-07")
def test_a_plan_is_saved_checked_collected_and_applied_by_a_python_with_nothing_installed(root: Path) -> None:
    def bare(*words: str) -> tuple[int, str]:
        command = [sys.executable, "-E", "-s", "-S", str(PLAN_DATA), *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.stderr == ""
        return done.returncode, done.stdout

    write(root, {f"{WHERE}/draft.json": json.dumps({**plan(), "titel": "x"})})
    fault = "/: 'titel' is not part of it (valid: title is nearest"
    assert bare("save", WHERE, f"{WHERE}/draft.json")[1].startswith(fault)
    write(root, {f"{WHERE}/draft.json": json.dumps(plan())})
    copies()
    assert bare("save", WHERE, f"{WHERE}/draft.json") == (0, f"version 1: {WHERE}/plan.1.json\n")
    assert bare("collect", WHERE)[0] == 0
    assert "plan.2.json is at stage documented" in bare("check", WHERE, "--stage", "documented")[1]
    assert bare("apply", WHERE, "M-001")[0] == 0
    assert bare("waves", WHERE)[0] == 0
