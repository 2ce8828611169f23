"""A skill made self-contained works alone; one that was copied without says what it lacks."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skills.lib.errors import RefusedError, SkillError
from skills.lib.hosts.install import export, source
from skills.lib.runtime import loading
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock
from skills.lib.testing.transitions import entry_scripts
from skills.lib.testing.walks import shortest_walk
from tests.fixtures import small_project
from tests.fixtures.skill import ROOT, import_from_lockstep
from tests.hosts.conftest import SKILL, Command, tree
from tests.skills.samples import samples_of

SKILLS = sorted(path.parent for path in (ROOT / "skills").glob("*/SKILL.md"))
SCRIPTS = [script for skill in SKILLS for script in entry_scripts(skill)]
# The interpreter that the virtual environment was made from; -S leaves out what is installed for it.
BARE = os.path.realpath(sys._base_executable)  # type: ignore[attr-defined]


class Bare:
    """Runs commands with an interpreter that has nothing installed, in a folder that is not the skill's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, command: str) -> PrintedBlock:
        done = bare(self.folder, *shlex.split(command)[1:])
        return PrintedBlock(done.returncode, done.stdout, done.stderr)


def bare(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [BARE, "-I", "-S", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)


def copied(skill: Path, tmp_path: Path) -> Path:
    """The skill exported, and then copied alone to another place."""
    made, alone = tmp_path / "made", tmp_path / "else where"
    for name, data in export.contents(str(skill)).items():
        path = made / skill.name / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    shutil.copytree(made / skill.name, alone / skill.name)
    shutil.rmtree(made)
    return alone / skill.name


@pytest.mark.req("H-04")
def test_a_copy_alone_is_walked_to_its_end_by_a_bare_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCKSTEP_HOME")
    project, folder = tmp_path / "project", tmp_path / "folder"
    project.mkdir()
    folder.mkdir()
    (project / "data.txt").write_text("one\ntwo\nthree\n")
    script = copied(ROOT / "skills" / "codebase-analysis", tmp_path) / "scripts" / "codebase_analysis.py"
    values, files, _ = samples_of(script)
    agent = Agent(script, project, values=values, files=files, call=Bare(folder))
    taken = agent.play(shortest_walk(loading.workflow_of_script(str(script))))
    assert [one.step for one in taken] == ["scope", "deepen", "synthesize"]
    assert taken[-1].target is None
    assert all(shlex.split(block.next)[:2] == [BARE, str(script)] for block in agent.blocks[:-1])


@pytest.mark.req("H-04")
@pytest.mark.parametrize("skill", SKILLS, ids=lambda path: path.name)
def test_the_first_step_of_every_script_of_a_copy_is_printed_by_a_bare_python(skill: Path, tmp_path: Path) -> None:
    alone = copied(skill, tmp_path)
    scripts = [alone / script.relative_to(skill) for script in entry_scripts(skill)]
    assert scripts
    for script in scripts:
        first = loading.workflow_of_script(str(script)).start
        done = bare(tmp_path, str(script), "--step", first, "--stateless")
        assert (done.returncode, done.stderr) == (0, "")
        assert f' skill="{loading.workflow_of_script(str(script)).name}" ' in done.stdout


@pytest.mark.req("H-04", "S-07")
def test_a_copy_of_planner_checks_a_plan_by_a_bare_python(tmp_path: Path) -> None:
    script = copied(ROOT / "skills" / "planner", tmp_path) / "scripts" / "plan_data.py"
    (tmp_path / "draft.json").write_text(json.dumps(small_project.plan()))
    # As evidence is run: the script's own folder is on the path, which -I leaves out.
    command = [BARE, "-E", "-s", "-S", str(script), "save", "plans/shop", "draft.json"]
    saved = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (saved.returncode, saved.stdout, saved.stderr) == (0, "version 1: plans/shop/plan.1.json\n", "")
    (tmp_path / "draft.json").write_text("[]")
    refused = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (refused.returncode, refused.stderr) == (1, "")
    assert refused.stdout.startswith("/: [] is an array, not an object")


@pytest.mark.req("H-04")
def test_a_skill_folder_copied_without_says_what_to_install(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "skills" / SKILL, tmp_path / SKILL)
    done = bare(tmp_path, str(tmp_path / SKILL / "scripts" / "problem_analysis.py"), "--step", "1")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == (
        f"lockstep: the package lockstep-skills is not installed for {BARE}\n"
        "  try:   a Python that has it, such as .venv/bin/python; or pip install /path/to/lockstep\n"
    )


@pytest.mark.req("H-04")
def test_a_changed_graph_in_a_copy_says_how_to_seal_it(tmp_path: Path) -> None:
    alone = copied(ROOT / "skills" / SKILL, tmp_path)
    for seal in alone.glob("scripts/*.seal"):
        seal.write_text("another\n")
    done = bare(tmp_path, str(alone / "scripts" / "problem_analysis.py"), "--step", "1")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == (
        "lockstep: the graph of problem-analysis is not the one that was sealed, and this copy of a skill has no "
        "validator\n"
        "  try:   pip install /path/to/lockstep, then lockstep validate --seal and the folder of the skill\n"
    )


def test_a_copy_names_the_lockstep_command_that_it_does_not_hold(tmp_path: Path) -> None:
    alone = copied(ROOT / "skills" / "planner", tmp_path)
    code = (
        f"import sys; sys.path.insert(0, {str(alone)!r}); import skills.lib.blocks.command_line as c;"
        "print(c.lockstep_command())"
    )
    assert bare(tmp_path, "-c", code).stdout == "('lockstep',)\n"


def test_what_is_vendored_is_the_step_path_and_no_more() -> None:
    modules = export.modules()
    assert {"skills.bootstrap", "skills.lib.runtime.runner", "skills.lib.ledger.ledger"} <= set(modules)
    assert {"skills.lib.prompts", "skills.lib.conventions", "skills.lib.blocks.xml"} <= set(modules)
    rooms = {module.split(".")[2] for module in modules if module.count(".") > 2}
    assert rooms == {"blocks", "compat", "engine", "ledger", "model", "runtime", "schema", "validation", "workflow"}
    assert [name for name in modules if "validation" in name] == [
        "skills.lib.validation",
        "skills.lib.validation.registration",
    ]
    for name, data in export.vendored().items():
        if name.endswith(".py") and not name.endswith("/registration.py"):  # which validates where a copy cannot
            export.check_imports(name, data)
    assert not [name for name in export.contents(str(ROOT / "skills" / "planner")) if "/_" in f"/{name}"]
    assert sum(len(data) for data in export.vendored().values()) < 920_000


def test_a_copy_holds_the_same_bytes_wherever_it_is_made(tmp_path: Path) -> None:
    source = ROOT / "skills" / SKILL
    shutil.copytree(source, tmp_path / SKILL)
    (tmp_path / SKILL / "scripts" / "__pycache__").mkdir(exist_ok=True)
    (tmp_path / SKILL / "scripts" / "__pycache__" / "x.cpython-311.pyc").write_bytes(b"x")
    (tmp_path / SKILL / "tests").mkdir()
    (tmp_path / SKILL / "tests" / "test_x.py").write_text("")
    (tmp_path / SKILL / "scripts" / "other.seal").write_text("x")
    made = export.contents(str(source))
    assert export.contents(str(tmp_path / SKILL)) == made
    assert list(made) == sorted(made)
    assert {name.partition("/")[0] for name in made} == {
        *("SKILL.md", "scripts", "skills", "skills.py", "lockstep", "lockstep.py")
    }


def test_a_copy_of_a_copy_is_the_same(tmp_path: Path) -> None:
    source = ROOT / "skills" / "planner"
    alone = copied(source, tmp_path)
    assert export.contents(str(alone)) == export.contents(str(source))


def test_each_entry_climbs_to_the_folder_of_the_copy() -> None:
    files = export.contents(str(ROOT / "skills" / "planner"))
    climbs = {
        name: int(found[1])
        for name, data in files.items()
        if (found := re.search(r"^for _ in range\((\d+)\):$", data.decode(), re.MULTILINE))
        and name.startswith("scripts/")
    }
    assert climbs["scripts/planner.py"] == 2
    assert climbs["scripts/qr/plan_code.py"] == 3
    assert climbs["scripts/executor_approval.py"] == 2
    assert all(climb == name.count("/") + 1 for name, climb in climbs.items())


def test_every_workflow_of_a_copy_has_its_seal() -> None:
    files = export.contents(str(ROOT / "skills" / "planner"))
    names = {loading.workflow_of_script(str(script)).name for script in entry_scripts(ROOT / "skills" / "planner")}
    assert {name.rpartition("/")[2] for name in files if name.endswith(".seal")} == {f"{name}.seal" for name in names}


def test_links_and_odd_names_are_refused(tmp_path: Path) -> None:
    skill = tmp_path / "odd"
    (skill / "scripts").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: odd\ndescription: Odd.\n---\n")
    (tmp_path / "link").symlink_to(skill)
    with pytest.raises(RefusedError, match="is a link"):
        export.contents(str(tmp_path / "link"))
    (skill / "secret.md").symlink_to("/etc/passwd")
    with pytest.raises(RefusedError, match=r"secret\.md is no regular file"):
        export.contents(str(skill))
    (skill / "secret.md").unlink()
    (skill / "resources").symlink_to(tmp_path)
    with pytest.raises(RefusedError, match="resources is a link"):
        export.contents(str(skill))
    (skill / "resources").unlink()
    (skill / "a\nb.md").write_text("x")
    with pytest.raises(RefusedError, match="is no name for a file of a skill"):
        export.contents(str(skill))


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../b", "a//b", "", "c:/x", "a\\b", "a\x1bb", "./a"])
def test_a_path_that_leads_elsewhere_is_no_name(name: str) -> None:
    with pytest.raises(RefusedError):
        source.check_name(name)


def test_an_entry_with_another_head_is_refused(tmp_path: Path) -> None:
    skill = tmp_path / "odd"
    (skill / "scripts").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: odd\ndescription: Odd.\n---\n")
    (skill / "scripts" / "odd.py").write_text("from skills.bootstrap import main\n\nmain(__file__)\n")
    with pytest.raises(SkillError, match=r"scripts/odd\.py has another head"):
        export.contents(str(skill))


@pytest.mark.req("H-04")
def test_the_command_writes_a_copy_once_and_says_how_large_it_is(cli: Command, project: Path, tmp_path: Path) -> None:
    shown = cli("export", SKILL, "--to", str(tmp_path / "out"))
    assert (shown.code, shown.err) == (0, "")
    place = tmp_path / "out" / SKILL
    assert shown.out.startswith(f"Wrote {place}\n")
    assert re.search(r"^\d+ files, \d{3} kB: the skill \d+ kB, the part of Lockstep", shown.out, re.MULTILINE)
    assert {name for name, data in tree(place).items() if data is not None} == set(
        export.contents(str(ROOT / "skills" / SKILL))
    )
    again = cli("export", SKILL, "--to", str(tmp_path / "out"))
    assert (again.code, again.out) == (3, "")
    assert f"{place} exists already, and nothing is overwritten" in again.err
    (place / "SKILL.md").write_text("changed")
    assert cli("export", SKILL, "--to", str(tmp_path / "out"), "--force").code == 0
    assert (place / "SKILL.md").read_text() != "changed"
    assert os.listdir(tmp_path / "out") == [SKILL]


def test_the_command_replaces_nothing_but_an_earlier_copy(cli: Command, tmp_path: Path) -> None:
    (tmp_path / SKILL).mkdir()
    (tmp_path / SKILL / "mine.txt").write_text("mine")
    shown = cli("export", SKILL, "--to", str(tmp_path), "--force")
    assert (shown.code, shown.out) == (3, "")
    assert "is no copy that export made" in shown.err
    assert (tmp_path / SKILL / "mine.txt").read_text() == "mine"
    shutil.rmtree(tmp_path / SKILL)
    (tmp_path / SKILL).symlink_to(tmp_path / "elsewhere")
    assert cli("export", SKILL, "--to", str(tmp_path), "--force").code == 3


def test_a_dry_run_of_the_command_writes_nothing(cli: Command, project: Path) -> None:
    before = tree(project)
    shown = cli("export", SKILL, "--dry-run", "--json")
    told = json.loads(shown.out)
    assert (told["written"], told["folder"]) == (False, str(project / SKILL))
    assert told["files"]["SKILL.md"] == (ROOT / "skills" / SKILL / "SKILL.md").stat().st_size
    assert "SKILL.md" in cli("export", SKILL, "--dry-run").out
    assert tree(project) == before


def test_a_skill_of_ones_own_needs_no_package_once_it_is_exported(cli: Command, project: Path, tmp_path: Path) -> None:
    cli("new", "my-skill")
    assert cli("export", "my-skill", "--to", str(tmp_path / "out")).code == 0
    text = (tmp_path / "out" / "my-skill" / "SKILL.md").read_text()
    assert "\ncompatibility: Needs Python 3.11 or later.\n" in text
    done = bare(tmp_path, str(tmp_path / "out" / "my-skill" / "scripts" / "my_skill.py"), "--step", "1", "--stateless")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def own(cli: Command, project: Path) -> Path:
    """The entry of a skill of the user's own, whose graph imports from the package ``lockstep``."""
    cli("new", "my-skill")
    script = project / "skills" / "my-skill" / "scripts" / "my_skill.py"
    import_from_lockstep(script)
    return script


def test_a_graph_may_import_from_lockstep(cli: Command, own: Path, tmp_path: Path) -> None:
    assert cli("validate", "--seal", str(own.parents[1])).code == 0  # a bare Python has no library to validate with
    words = ("--step", "1", "--stateless")
    clone = bare(tmp_path, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {_run(own, words)}")
    assert cli("export", "my-skill", "--to", str(tmp_path / "out")).code == 0
    script = tmp_path / "out" / "my-skill" / "scripts" / "my_skill.py"
    copy = bare(tmp_path, str(script), *words)
    for done in (clone, copy):
        assert (done.returncode, done.stderr) == (0, "")
        assert ' skill="my-skill" id="frame" ' in done.stdout
    again = export.contents(str(script.parents[1]))
    assert again == export.contents(str(own.parents[1]))


def _run(script: Path, words: tuple[str, ...]) -> str:
    return f"sys.argv = {[str(script), *words]!r}; import runpy; runpy.run_path(sys.argv[0], run_name='__main__')"


def test_a_misspelt_name_of_lockstep_is_told_in_a_copy(own: Path, tmp_path: Path) -> None:
    alone = copied(own.parents[1], tmp_path)
    graph = alone / "scripts" / "my_skill_workflow.py"
    graph.write_text(graph.read_text().replace("import Arg, Field", "import Arg, Fields as Field"))
    done = bare(tmp_path, str(alone / "scripts" / "my_skill.py"), "--step", "1", "--stateless")
    assert (done.returncode, done.stdout) == (5, "")
    assert f"{graph}:7: lockstep has no name 'Fields'; did you mean Field?" in done.stderr


def test_a_name_of_lockstep_that_no_copy_holds_is_refused(cli: Command, own: Path, tmp_path: Path) -> None:
    (own.parent / "other.py").write_text("from lockstep import Workflow, every_walk\n")
    shown = cli("export", "my-skill", "--to", str(tmp_path / "out"))
    assert (shown.code, shown.out) == (5, "")
    assert "scripts/other.py imports lockstep.every_walk, which is no part of what prints steps" in shown.err
    (own.parent / "other.py").write_text("import lockstep.pytest_plugin\n")
    assert "imports lockstep.pytest_plugin, " in cli("export", "my-skill", "--to", str(tmp_path / "out")).err


def test_a_folder_lockstep_of_the_skills_own_is_kept(cli: Command, own: Path, tmp_path: Path) -> None:
    (own.parents[1] / "lockstep").mkdir()
    (own.parents[1] / "lockstep" / "notes.md").write_text("mine")
    assert cli("install", "agents", "--scope", "project", "--skill", "my-skill").code == 0
    copy = own.parents[3] / ".agents" / "skills" / "my-skill"
    assert "lockstep/notes.md" in source.files(str(copy))
    assert export.contents(str(own.parents[1]))["lockstep/notes.md"] == b"mine"
