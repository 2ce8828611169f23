"""The commands on files: what they show and change, which places they keep from, and links that come meanwhile."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from skills.lib.errors import EnvironmentProblem, LockstepError, RefusedError, UsageError
from skills.lib.gateway import safe_cli_executor, safe_py_runner, tree_files
from skills.lib.gateway.operations import TimeIsUp
from skills.lib.gateway.places import Places, is_device, normalised
from tests.gateway.conftest import SECRET, Setup

pytestmark = pytest.mark.req("P-08")


def test_a_folder_is_listed_folders_first_and_links_marked(setup: Setup) -> None:
    (setup.project / "docs" / "odd\nname\x1b[2J").touch()
    assert safe_cli_executor("list_files", path="docs").output == "back@\nguide.md\nodd?name?[2J\n"
    assert safe_cli_executor("list_files").output.startswith(".git/\nbuild/\ndocs/\nscripts/\nskills/\nREADME.md\n")


def test_a_file_is_read_and_cut_at_the_limit(setup: Setup) -> None:
    (setup.project / "big.txt").write_bytes(b"x" * 5_000_000)
    read = safe_cli_executor("read_file", path="docs\\guide.md")
    assert (read.output, read.exit, read.is_cut) == ("the guide\n", 0, False)
    assert "UTF-8" not in read.text()
    (setup.project / "latin.csv").write_bytes(b"M\xfcller;3\n")
    assert safe_cli_executor("read_file", path="latin.csv").text() == (
        "M\ufffdller;3\n[exit 0 after 0.0 s, not UTF-8: bytes that could not be read are shown as \ufffd]\n"
    )
    big = safe_cli_executor("read_file", path="big.txt")
    assert (len(big.output), big.is_cut, big.printed) == (100_000, True, 5_000_000)
    assert big.text().endswith("[exit 0 after 0.0 s, cut: 5,000,000 bytes were printed]\n")


def test_a_tree_shows_folders_with_their_files_and_follows_no_link(setup: Setup, snapshot: SnapshotAssertion) -> None:
    shown = safe_cli_executor("tree").output.replace(str(setup.project), "PROJECT")
    assert "out@" in shown
    assert "secret" not in shown
    assert shown == snapshot


def test_folders_are_made_with_those_above_them_and_may_be_there(setup: Setup) -> None:
    made = setup.project / "build" / "a" / "b"
    assert safe_cli_executor("make_directory", path="build/a/b").output == f"made: {made}\n"
    assert safe_cli_executor("make_directory", path="build/a/b").output == f"is there: {made}\n"
    with pytest.raises(EnvironmentProblem, match="is there, and is no folder"):
        safe_cli_executor("make_directory", path="README.md")


def test_a_file_is_copied_to_a_path_and_into_a_folder(setup: Setup) -> None:
    (setup.project / "README.md").chmod(0o640)
    safe_cli_executor("copy_file", source="README.md", destination="build/new.md")
    safe_cli_executor("copy_file", source="README.md", destination="build")
    for name in ("new.md", "README.md"):
        copy = setup.project / "build" / name
        assert (copy.read_text(encoding="utf-8"), copy.stat().st_mode & 0o777) == ("# Readme\n", 0o640 & ~_umask())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_copy_replaces_a_file_and_changes_none_of_its_other_names(setup: Setup) -> None:
    (setup.project / "build" / "old.md").write_text("old", encoding="utf-8")
    os.link(setup.project / "build" / "old.md", setup.project / "scripts" / "hard.py")
    safe_cli_executor("copy_file", source="README.md", destination="build/old.md")
    assert (setup.project / "build" / "old.md").read_text(encoding="utf-8") == "# Readme\n"
    assert (setup.project / "scripts" / "hard.py").read_text(encoding="utf-8") == "old"


def test_a_file_and_a_folder_are_moved(setup: Setup) -> None:
    moved = safe_cli_executor("move_file", source="docs/guide.md", destination="build")
    assert moved.output == f"moved: {setup.project}/docs/guide.md -> {setup.project}/build/guide.md\n"
    safe_cli_executor("move_file", source="build", destination="made")
    assert sorted(path.name for path in (setup.project / "made").iterdir()) == ["guide.md"]
    assert not (setup.project / "docs" / "guide.md").exists()


@pytest.mark.parametrize("name, values, told", [
    ("read_file", {"path": "docs"}, "is a folder"),
    ("read_file", {"path": "absent.md"}, "No such file or directory"),
    ("read_file", {"path": "README.md/x"}, "Not a directory"),
    ("read_file", {"path": "fifo"}, "is no regular file"),
    ("list_files", {"path": "README.md"}, "Not a directory"),
    ("copy_file", {"source": "docs", "destination": "build/x"}, "is a folder"),
    ("copy_file", {"source": "README.md", "destination": "fifo"}, "is there, and is no regular file"),
    ("copy_file", {"source": "fifo", "destination": "build/x"}, "is no regular file"),
    ("move_file", {"source": "absent", "destination": "build/x"}, "No such file or directory"),
])  # fmt: skip
def test_what_cannot_be_done_is_told_and_changes_nothing(
    setup: Setup, name: str, values: dict[str, str], told: str
) -> None:
    os.mkfifo(setup.project / "fifo")
    with pytest.raises(EnvironmentProblem, match=told):
        safe_cli_executor(name, **values)
    assert not (setup.project / "build" / "x").exists()


def test_one_path_for_source_and_destination_is_refused(setup: Setup) -> None:
    for name in ("copy_file", "move_file"):
        with pytest.raises(RefusedError, match="is both source and destination"):
            safe_cli_executor(name, source="README.md", destination=".")
    assert (setup.project / "README.md").read_text(encoding="utf-8") == "# Readme\n"


@pytest.mark.parametrize(
    "path",
    [
        *("scripts/new.py", "scripts", "SCRIPTS/new.py", "skills/x/new.py", "skills/new/run.py", "skills", "skills/x"),
        *("skills/x/tmp/../run.py", "lockstep.gateway.yaml", "lockstep.policy.yaml", "docs/lockstep.policy.yaml"),
        *(".git/hooks/pre-commit", "docs/.git/config", ".claude/settings.json", ".lockstep/runs.db", "opencode.json"),
        ".mcp.json",
        *(
            ".agents/skills/x/policy.yaml",
            "node_modules/x/index.js",
            "tool/policy.yaml",
            "tool/graph/a.py",
            ".",
            "docs/..",
        ),
        *("Scripts/new.py", "ſcripts/new.py", "skills/x/ｔｍｐ/new.py"),
    ],
)
def test_no_command_writes_where_scripts_run_or_rules_are(setup: Setup, path: str) -> None:
    (setup.project / "tool").mkdir()
    (setup.project / "tool" / "SKILL.md").touch()
    before = setup.outside()
    for name, values in (
        ("make_directory", {"path": path}),
        ("copy_file", {"source": "README.md", "destination": path}),
        ("move_file", {"source": "README.md", "destination": path}),
        ("move_file", {"source": path, "destination": "build/moved"}),
    ):
        try:
            safe_cli_executor(name, **values)
        except RefusedError:
            continue
        # Into the project's folder a file may be put, but not in its own place.
        assert (path, name, values.get("destination")) == (".", "copy_file", "."), (name, values)
    assert setup.outside() == before


@pytest.mark.parametrize("name", ["SKILL.md", "skill.md"])
def test_no_command_makes_a_skill(setup: Setup, name: str) -> None:
    for folder in ("docs", "docs/new", "skills/x/tmp", "skills/x/tmp/new"):
        for command, values in (
            ("make_directory", {"path": f"{folder}/{name}"}),
            ("copy_file", {"source": "README.md", "destination": f"{folder}/{name}"}),
            ("move_file", {"source": "README.md", "destination": f"{folder}/{name}"}),
        ):
            with pytest.raises(RefusedError, match=r"scripts of a folder with a SKILL\.md are run"):
                safe_cli_executor(command, **values)
        done = safe_py_runner("scripts/write_file.py", [f"{folder}/{name}"], stdin_text="---")
        assert done.exit == 3
        assert "scripts of a folder with a SKILL.md are run" in done.errors
    (setup.project / "skills" / "y" / "SKILL.md").touch()
    with pytest.raises(RefusedError, match=r"scripts of a folder with a SKILL\.md are run"):
        safe_cli_executor("copy_file", source="skills/y/SKILL.md", destination="docs")


def test_a_virtual_environment_is_not_written(setup: Setup) -> None:
    python = setup.project / "docs" / "env" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    (setup.project / "docs" / "env" / "pyvenv.cfg").touch()
    for path in ("docs/env/lib/python3/site-packages/sitecustomize.py", "docs/env/pyvenv.cfg", "docs/env/bin/x"):
        with pytest.raises(RefusedError, match="virtual environment"):
            safe_cli_executor("copy_file", source="README.md", destination=path)
    for path in ("docs/env/bin", "docs/env"):
        with pytest.raises(RefusedError, match="virtual environment"):
            safe_cli_executor("move_file", source=path, destination="build/x")


def test_the_scratch_folder_of_a_skill_is_written(setup: Setup) -> None:
    safe_cli_executor("make_directory", path="skills\\x\\tmp")
    safe_cli_executor("copy_file", source="README.md", destination="skills\\x\\tmp\\output.md")
    assert (setup.project / "skills/x/tmp/output.md").read_text(encoding="utf-8") == "# Readme\n"


def test_a_file_of_more_than_a_gigabyte_is_not_copied(setup: Setup) -> None:
    with (setup.project / "large").open("wb") as file:
        file.truncate((1 << 30) + 1)
    with pytest.raises(RefusedError, match="has 1,073,741,825 bytes: files of at most 1,073,741,824 bytes are copied"):
        safe_cli_executor("copy_file", source="large", destination="build/large")
    assert not (setup.project / "build" / "large").exists()


def test_where_a_link_of_a_skill_leads_is_not_written(setup: Setup) -> None:
    for folder in ("lib/shared", "lib/way", "conf", "tool", "free"):
        (setup.project / folder).mkdir(parents=True)
    (setup.project / "tool" / "SKILL.md").touch()
    for link, target in (
        ("skills/x/scripts", "../../lib/way/shared"),
        ("lib/way/shared", "../shared"),
        ("lib/shared/further", "../../conf"),
        ("tool/helper.py", "../free/helper.py"),
        ("lockstep.policy.yaml", "policies/strict.yaml"),
        ("skills/x/tmp", "../../docs"),
        ("docs/link.md", "guide.md"),
    ):
        (setup.project / link).symlink_to(target)
    for path in ("lib/shared/x_workflow.py", "lib/way", "lib", "conf/x.py", "free/helper.py", "policies/strict.yaml"):
        with pytest.raises(RefusedError, match=r"the link \S+ leads there, which is not written either"):
            safe_cli_executor("make_directory", path=path)
    with pytest.raises(RefusedError, match=r"the link skills/x/scripts leads there"):
        safe_cli_executor("move_file", source="lib/shared", destination="build/x")
    for path in ("free/other.py", "lib/other", "docs/guide.md"):
        assert safe_cli_executor("copy_file", source="README.md", destination=path).ok


def test_a_file_that_a_command_of_the_project_runs_is_not_written(setup: Setup) -> None:
    (setup.project / "tools").mkdir()
    (setup.project / "tools" / "gen.py").touch()
    (setup.project / "tools" / "ruby").touch()
    (setup.project / "links").mkdir()
    (setup.project / "links" / "perl").symlink_to(sys.executable)
    gateway = setup.trust(
        "commands: {gen: {argv: ['{python}', tools/gen.py]}}\n"
        "runners: {.rb: {argv: [tools/ruby, '{script}']}, .pl: {argv: [links/perl, '{script}']}}\n"
    )
    for target in ("tools/gen.py", "tools/ruby", "tools", "links"):
        with pytest.raises(RefusedError, match=r"lockstep\.gateway\.yaml names it as what runs"):
            gateway.run("move_file", {"source": target, "destination": "build/x"})
    assert gateway.run("copy_file", {"source": "README.md", "destination": "tools/other.py"}).ok


def test_a_link_in_the_place_of_a_folder_is_not_followed_after_the_check(setup: Setup) -> None:
    path = str(setup.project / "docs" / "secret.txt")  # checked: docs is a folder of the project
    (setup.project / "docs").rename(setup.project / "old")
    (setup.project / "docs").symlink_to(setup.around / "around")
    with pytest.raises(RefusedError, match="a link was put there after the path was checked"), tree_files.opened(path):
        pass
    with pytest.raises(RefusedError, match="a link was put there"):
        tree_files.write(path, b"x")
    assert setup.secret.read_text(encoding="utf-8") == SECRET


def test_links_that_come_and_go_show_and_change_nothing_outside(setup: Setup) -> None:
    """A folder is replaced by a link to one outside, again and again, while its file is read and written."""
    before = {path.name: path.read_bytes() for path in (setup.around / "around").iterdir()}
    real, link, way = (setup.project / name for name in ("real", "link", "way"))
    real.mkdir()
    (real / "secret.txt").write_text("of the project", encoding="utf-8")
    link.symlink_to(setup.around / "around")
    os.symlink("real", way)
    stop = threading.Event()

    def swap() -> None:
        way.unlink()
        while not stop.is_set():
            os.rename(real, way)
            os.rename(way, real)
            os.rename(link, way)
            os.rename(way, link)

    swapping = threading.Thread(target=swap)
    swapping.start()
    seen = {"read": 0, "refused": 0}
    try:
        for count in range(400):
            try:
                if count % 2:
                    output = safe_cli_executor("read_file", path="way/secret.txt").output
                    assert output in ("of the project", "# Readme\n")
                    seen["read"] += 1
                else:
                    safe_cli_executor("copy_file", source="README.md", destination="way/secret.txt")
            except LockstepError:
                seen["refused"] += 1
    finally:
        stop.set()
        swapping.join()
    assert seen["refused"] > 0
    assert {path.name: path.read_bytes() for path in (setup.around / "around").iterdir()} == before


def test_the_commands_work_where_folders_have_no_descriptors(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows."""
    monkeypatch.setattr(tree_files, "HAS_DESCRIPTORS", False)
    test_folders_are_made_with_those_above_them_and_may_be_there(setup)
    test_a_copy_replaces_a_file_and_changes_none_of_its_other_names(setup)
    test_a_file_is_read_and_cut_at_the_limit(setup)
    assert safe_cli_executor("list_files", path="docs").output == "back@\nguide.md\n"
    assert "secret" not in safe_cli_executor("tree").output
    safe_cli_executor("move_file", source="docs/guide.md", destination="build/a")
    assert (setup.project / "build" / "a" / "guide.md").read_text(encoding="utf-8") == "the guide\n"
    for name in ("read_file", "list_files"):
        with pytest.raises(EnvironmentProblem, match="No such file or directory"):
            safe_cli_executor(name, path="absent")
    with pytest.raises(RefusedError, match="outside of"):
        safe_cli_executor("read_file", path="file-out")


def test_an_operation_ends_at_its_time_limit(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    call = setup.gateway.prepare("list_files", {})
    assert call.setting.limits.seconds == 10

    def late(_: object) -> None:
        raise TimeIsUp

    monkeypatch.setattr("skills.lib.gateway.operations.Job.check", late)
    result = setup.gateway.run("list_files", {})
    assert (result.exit, result.output) == (None, "")


@pytest.mark.parametrize(
    "path, windows, other",
    [
        (
            "skills/ects_skill/tmp/output.json",
            "skills\\ects_skill\\tmp\\output.json",
            "skills/ects_skill/tmp/output.json",
        ),
        ("skills\\ects_skill\\run.py", "skills\\ects_skill\\run.py", "skills/ects_skill/run.py"),
        ("..\\a/b", "..\\a\\b", "../a/b"),
        ("C:/x\\y", "C:\\x\\y", "C:/x/y"),
        ("", "", ""),
    ],
)
def test_separators_are_those_of_the_system(path: str, windows: str, other: str) -> None:
    assert (normalised(path, windows=True), normalised(path, windows=False)) == (windows, other)


@pytest.mark.parametrize(
    "path, device",
    [
        *[(one, True) for one in ("NUL", "a/con", "com1.txt", "x\\AUX .log", "lpt9", "a./b", "b ", "CONOUT$")],
        *[(one, False) for one in ("console", "a/nullable.py", ".", "..", "./a/../b", "com10", "README.md", "")],
    ],
)
def test_names_of_devices_are_known(path: str, device: bool) -> None:
    assert is_device(path) is device


NAMES = st.sampled_from(
    ["..", ".", "docs", "scripts", "skills", "x", "tmp", "out", "loop", "file-out", "back", "a", ""]
)


@settings(max_examples=300, deadline=None)
@given(
    parts=st.lists(NAMES, max_size=8), slash=st.sampled_from(["/", "\\", "//"]), top=st.sampled_from(["", "/", "./"])
)
def test_a_path_is_resolved_below_the_project_or_refused(parts: list[str], slash: str, top: str) -> None:
    checked = _checked()
    given_path = top + slash.join(parts)
    if not given_path:
        return
    for use in ("read", "write"):
        try:
            found = checked.resolve(given_path, use, ["."])
        except RefusedError:
            continue
        assert found == checked.project or found.startswith(checked.project + "/")
        assert found == os.path.realpath(found)
        assert use == "read" or not found.startswith(f"{checked.project}/scripts")


def _checked() -> Places:
    import tempfile

    from tests.gateway.conftest import fill

    if not _PLACES:
        top = Path(os.path.realpath(tempfile.mkdtemp(dir=os.environ["XDG_CACHE_HOME"])))
        (top / "around").mkdir()
        fill(top / "project")
        _PLACES.append(Places(str(top / "project")))
    return _PLACES[0]


_PLACES: list[Places] = []


@pytest.mark.parametrize("root", ["docs", "../around"])
def test_a_command_of_a_project_has_roots_of_its_own(setup: Setup, root: str) -> None:
    text = (
        f"roots: ['{root}']\n"
        "commands: {show: {argv: [cat, '{file}'], params: {file: {path: read}}}}\n"
        "limits: {seconds: 5}\n"
    )
    gateway = setup.trust(text.replace("argv:", f"folder: '{root}', argv:"))
    inside, outside = ("docs/guide.md", "README.md") if root == "docs" else ("../around/secret.txt", "docs/guide.md")
    assert gateway.run("show", {"file": inside}).ok
    with pytest.raises(RefusedError, match="leads to"):
        gateway.run("show", {"file": outside})


@pytest.mark.parametrize("path", ["loop/../out/secret.txt", "loop/../file-out", "loop", "docs/../loop/x/../../out"])
def test_a_link_behind_a_loop_of_links_is_no_path(setup: Setup, path: str) -> None:
    gateway = setup.trust("commands: {show: {argv: [cat, '{file}'], params: {file: {path: read}}}}\n")
    with pytest.raises(RefusedError, match="leads through a loop of links"):
        gateway.run("show", {"file": path})


def test_a_parameter_of_the_function_is_checked(setup: Setup) -> None:
    with pytest.raises(UsageError, match="read_file: path is missing"):
        safe_cli_executor("read_file")
    with pytest.raises(UsageError, match=r"read_file: path is a text, not \['a'\]"):
        safe_cli_executor("read_file", path=["a"])
    with pytest.raises(UsageError, match="no parameter 'pth'; did you mean path"):
        safe_cli_executor("read_file", pth="a")


@pytest.mark.parametrize(
    "args, told",
    [
        (["x" * 100_001], "args has 100,001 characters, at most 100,000 are taken"),
        (["x" * 90_000] * 6, "the values have more than 500,000 characters together"),
        (["x"] * 1_001, "args has 1,001 values, at most 1,000 are taken"),
        ([7], r"args is a text or a list of texts, not \[7\]"),
        ({"a": "b"}, "args is a text or a list of texts"),
    ],
)
def test_the_size_and_the_kind_of_arguments_are_checked(setup: Setup, args: object, told: str) -> None:
    with pytest.raises((UsageError, RefusedError), match=told):
        setup.gateway.run("python_run", {"script": "scripts/echo.py", "args": args})


def test_no_parameter_of_the_function_names_another_project(setup: Setup) -> None:
    for name in ("project", "command", "self", "env_vars"):
        with pytest.raises(UsageError, match=f"read_file has no parameter '{name}'"):
            safe_cli_executor("read_file", **{"path": "secret.txt", name: str(setup.around)})
