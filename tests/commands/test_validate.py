from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.commands.conftest import SKILL_MD, Command
from tests.fixtures import skill
from tests.fixtures.terminal import at_terminal

Install = Callable[..., Path]
BAD = """StepDef("one", "One", "Do.", {"ok": "tow"}),
StepDef("two", "Two", "Do.", {"ok": None})"""
GOOD = "StepDef('one', 'One', 'Do.', {'ok': None})"


@pytest.fixture
def bad(installed: Install) -> None:
    """A tree with an invalid graph, a module that raises, and one that is well."""
    installed("bad", skill.source_of("bad", BAD))
    installed("worse", "x = 1\nraise ValueError('no')\n")
    installed("good", skill.source_of("good", GOOD))


@pytest.mark.req("W-21")
@pytest.mark.usefixtures("bad")
def test_findings_are_shown_with_the_line_and_a_caret(
    cli: Command, stable: Callable[[str], str], snapshot: SnapshotAssertion
) -> None:
    shown = cli("validate", "skills")
    assert shown.code == 5
    assert "in 3 skills, 3 workflows" in shown.err
    assert stable(shown.out) == snapshot


@pytest.mark.req("W-21")
@pytest.mark.usefixtures("bad")
def test_json_holds_every_finding_with_paths_of_the_project(cli: Command) -> None:
    shown = cli("validate", "--format", "json")
    assert shown.code == 5
    found = [finding for finding in json.loads(shown.out)["findings"] if finding["severity"] == "error"]
    assert [(finding["rule"], finding["file"], finding["line"]) for finding in found] == [
        ("unknown-target", "skills/bad/scripts/bad_workflow.py", 6),
        ("broken-module", "skills/worse/scripts/worse_workflow.py", 2),
    ]


@pytest.mark.req("W-21")
@pytest.mark.usefixtures("bad")
def test_sarif_names_rule_file_and_line(cli: Command) -> None:
    (run,) = json.loads(cli("validate", "--format", "sarif").out)["runs"]
    places = {
        (result["ruleId"], result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
        for result in run["results"]
        if result["level"] == "error"
    }
    assert ("unknown-target", "skills/bad/scripts/bad_workflow.py") in places
    assert ("broken-module", "skills/worse/scripts/worse_workflow.py") in places


@pytest.mark.req("W-21")
@pytest.mark.usefixtures("bad")
def test_annotations_are_one_line_each(cli: Command) -> None:
    lines = cli("validate", "--format", "github").out.splitlines()
    assert sum(line.startswith("::error file=skills/bad/scripts/bad_workflow.py,line=6,") for line in lines) == 1
    assert all(line.startswith(("::error ", "::warning ")) for line in lines)


def test_nothing_wrong_is_0(cli: Command, installed: Install) -> None:
    installed("good", skill.source_of("good", GOOD))
    shown = cli("validate", "--strict")
    assert (shown.code, shown.out) == (0, "")
    assert shown.err == "Nothing is wrong in 1 skill, 1 workflow.\n"


def test_a_warning_fails_only_when_strict(cli: Command, installed: Install) -> None:
    installed("same", skill.source_of("same", "StepDef('one', '', 'Do.', {'ok': None})"))
    shown = cli("validate")
    assert shown.code == 0
    assert "warning[missing-title]" in shown.out
    assert cli("validate", "--strict").code == 5


@pytest.mark.parametrize("words", [[], ["--format", "json"]])
def test_nothing_to_validate_is_a_notice(words: list[str], cli: Command) -> None:
    shown = cli("validate", ".", *words)
    assert shown.code == 0
    assert "Nothing to validate" in shown.err


@pytest.mark.parametrize("path", ["nowhere", "note.txt"])
def test_a_path_that_is_nothing_to_validate_is_a_usage_error(path: str, cli: Command, project: Path) -> None:
    (project / "note.txt").write_text("x", encoding="utf-8")
    assert cli("validate", path).code == 2


@pytest.mark.parametrize("path", ["skills/bad", "skills/bad/scripts/bad.py", "skills/bad/scripts/bad_workflow.py"])
@pytest.mark.usefixtures("bad")
def test_a_skill_is_validated_by_any_of_its_paths(path: str, cli: Command) -> None:
    shown = cli("validate", path)
    assert shown.code == 5
    assert "unknown-target" in shown.out
    assert "broken-module" not in shown.out


@pytest.mark.usefixtures("bad")
def test_paths_that_overlap_show_each_finding_once(cli: Command) -> None:
    found = json.loads(cli("validate", "skills", "skills/bad", "--format", "json").out)["findings"]
    assert len([finding for finding in found if finding["rule"] == "unknown-target"]) == 1


@pytest.mark.usefixtures("bad")
def test_a_broken_skill_md_is_found_by_its_own_path(cli: Command, project: Path) -> None:
    file = project / "skills" / "good" / "SKILL.md"
    file.write_text("---\nname: other\ndescription: x\n---\n", encoding="utf-8")
    shown = cli("validate", "skills/good/SKILL.md")
    assert shown.code == 5
    assert "skill-specification" in shown.out


@pytest.mark.usefixtures("bad")
def test_seals_stand_beside_what_is_valid(cli: Command, project: Path) -> None:
    from skills.lib.runtime import loading
    from skills.lib.validation import registration

    shown = cli("validate", "--seal")
    assert shown.code == 5
    assert sorted(path.name for path in project.rglob("*.seal")) == ["good.seal"]
    file = project / "skills" / "good" / "scripts" / "good_workflow.py"
    assert file.with_name("good.seal").read_text(encoding="ascii") == registration.text(
        loading.load_workflow(str(file))
    )
    assert "sealed skills/good/scripts/good.seal" in shown.err


LONG = "x" * 200
UNEXPECTED = "got an unexpected keyword argument"


@pytest.mark.parametrize(
    "line, shown, caret",
    [
        (f"raise ValueError('{LONG}')", "raise ValueError('" + "x" * 91 + "…", "^" * 109),
        (f"x = '{LONG}'; Feild()", "…" + "x" * 99 + "'; Feild()", " " * 103 + "^^^^^"),
        ("x = '" + "字" * 60 + "'; Feild()", "…" + "字" * 49 + "'; Feild()", " " * 102 + "^^^^^"),
    ],
    ids=["cut at its end", "cut in front of the mark", "wide characters"],
)
def test_a_caret_stands_under_what_is_shown_of_a_long_line(
    line: str, shown: str, caret: str, cli: Command, installed: Install
) -> None:
    installed("worse", line + "\n")
    printed = cli("validate", "skills").out.splitlines()
    assert printed[2:4] == [f"  1 | {shown}", f"    | {caret}"]


def test_on_a_narrow_terminal_a_line_is_cut_rather_than_folded(installed: Install) -> None:
    installed("worse", f"raise ValueError('{LONG}')\n")
    _, shown = at_terminal("validate", "skills", env={"COLUMNS": "60", "NO_COLOR": "1"})
    lines = shown.replace("\r", "").splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("  1 | "))
    assert lines[at : at + 2] == ["  1 | raise ValueError('" + "x" * 35 + "…", "    | " + "^" * 53]


@pytest.mark.parametrize("folder", ["skills", ".claude/skills"])
def test_the_bare_name_of_a_skill_is_reported_with_its_path(folder: str, cli: Command, project: Path) -> None:
    (project / folder / "bug-triage").mkdir(parents=True)
    shown = cli("validate", "bug-triage")
    assert (shown.code, shown.out) == (2, "")
    assert shown.err == (
        f"lockstep: bug-triage does not exist; did you mean {folder}/bug-triage?\n"
        "  valid: a folder, a workflow module or an entry script\n"
        f"  try:   lockstep validate {folder}/bug-triage\n"
    )


def test_a_missing_section_is_reported_with_the_line_that_asks(
    cli: Command, installed: Install, snapshot: SnapshotAssertion
) -> None:
    steps = "\nStepDef('one', 'One', PROMPTS['clos'], {'ok': None})"
    head = "from skills.lib.prompts import read_prompts\nPROMPTS = read_prompts(__file__)\n"
    script = installed("bad", head + skill.source_of("bad", steps))
    script.with_name("bad_prompts.md").write_text("## label\nx\n\n## close\ny\n", encoding="utf-8")
    shown = cli("validate")
    assert "did you mean 'close'?" in shown.out
    assert shown.out == snapshot


@pytest.mark.parametrize(
    "line, what",
    [
        ("StepDef('one', require=[])", "StepDef has no parameter 'require'; did you mean requires?"),
        ("StepDef('one', gate=1)", "StepDef has no parameter 'gate'"),
        ("core.StepDef('one', alow={})", "StepDef has no parameter 'alow'; did you mean allow?"),
        ("review_loop('x', work='w', pased=None)", "review_loop has no parameter 'pased'; did you mean passed?"),
        ("Outcome.SKP", "Outcome has no member 'SKP'; did you mean SKIP?"),
        ("AgentRole.REVIEWER", "AgentRole has no member 'REVIEWER'; did you mean QUALITY_REVIEWER?"),
        ("from skills.lib.workflow.core import StepDeff", "core has no name 'StepDeff'; did you mean StepDef?"),
        ("from skills.lib.workflow.types import QQQQ", "types has no name 'QQQQ'"),
        ("requirements.Feild", "requirements has no name 'Feild'; did you mean Field?"),
        ("from skills.lib.workflow import tyeps", "workflow has no name 'tyeps'; did you mean types?"),
        ("import skills.lib.workflow.tyeps", "workflow has no module 'tyeps'; did you mean types?"),
        ("from skills.lib.workflow.core import Outcom", "core has no name 'Outcom'; did you mean Outcome?"),
        ("Feild('x')", "name 'Feild' is not defined; did you mean Field?"),
    ],
)
def test_a_misspelt_name_is_reported_with_the_nearest(line: str, what: str, cli: Command, installed: Install) -> None:
    imports = "from skills.lib.workflow import core, requirements, types\n"
    installed("bad", skill.HEAD + imports + line + "\n")
    (found,) = json.loads(cli("validate", "--format", "json").out)["findings"]
    assert found["line"] == skill.HEAD.count("\n") + 2
    assert found["what"].partition(" (valid: ")[0].removeprefix("skills.lib.").removeprefix("workflow.") == what
    near = what.partition("did you mean ")[2].rstrip("?")
    assert found["do"] == (f"write {near}" if near else "take one of the valid names")


@pytest.mark.parametrize(
    "line, valid",
    [
        ("Outcome.SKP", "OK, FAIL, SKIP, ITERATE, DEFAULT"),
        ("Gate('x', bond=3)", "checkpoint, bound"),
        (
            "from skills.lib.workflow.requirements import Feild",
            "Arg, Artifact, Command, Field, Requirement, TYPES, fill)",
        ),
    ],
)
def test_a_misspelt_name_is_reported_with_the_valid_ones(
    line: str, valid: str, cli: Command, installed: Install
) -> None:
    installed("bad", skill.HEAD + line + "\n")
    (found,) = json.loads(cli("validate", "--format", "json").out)["findings"]
    assert f" (valid: {valid}" in found["what"]


@pytest.mark.parametrize(
    "line, what",
    [
        ("int(1, 2, 3)", "TypeError: int() takes at most 2 arguments (3 given)"),
        ("import no_such_package_at_all", "ModuleNotFoundError: No module named 'no_such_package_at_all'"),
        ("raise AttributeError('odd')", "AttributeError: odd"),
        ("raise ImportError('odd')", "ImportError: odd"),
        ("raise TypeError('f() got an unexpected keyword argument')", f"TypeError: f() {UNEXPECTED}"),
        (f"raise TypeError(\"nobody() {UNEXPECTED} 'x'\")", f"TypeError: nobody() {UNEXPECTED} 'x'"),
    ],
)
def test_an_error_that_is_no_slip_keeps_its_own_words(line: str, what: str, cli: Command, installed: Install) -> None:
    installed("bad", skill.HEAD + line + "\n")
    (found,) = json.loads(cli("validate", "--format", "json").out)["findings"]
    assert (found["what"], found["do"]) == (what, "fix the module; runs are untouched")


BROKEN = {
    "a value of another type": skill.source_of("odd", "StepDef('one', ['One'], 'Do.', {'ok': None})"),
    "a route that is a text": skill.source_of("odd", "StepDef('one', 'One', 'Do.', 'two')"),
    "a workflow that is none": f"{skill.HEAD}class Odd: name = 'odd'\nregister_workflow(Odd())\n",
    "an exit": "import sys\nsys.exit(3)\n",
    "an exception that is no Exception": "class Odd(BaseException): pass\nraise Odd\n",
    "an exception without words": "class Odd(Exception):\n    def __str__(self): raise self\nraise Odd\n",
    "no text": "x = 1\0\n",
    "no end": "def again(): again()\nagain()\n",
    "another folder": "import os, tempfile\nfolder = tempfile.mkdtemp()\nos.chdir(folder)\nos.rmdir(folder)\n",
    "a schema that is no data": skill.source_of(
        "odd", "StepDef('one', 'One', requires=[Artifact('a', {'enum': {1}})])"
    ),
    "a schema without end": f"{skill.HEAD}schema = {{}}\nfor _ in range(5000): schema = {{'items': schema}}\n"
    "register_workflow(Workflow('odd', StepDef('one', 'One', requires=[Artifact('a', schema)])))\n",
    "a handler that looks at nothing": f"{skill.HEAD}class Handler:\n    def __call__(self, ctx): pass\n"
    "    def __getattr__(self, name): raise RuntimeError(name)\n"
    "register_workflow(Workflow('odd', StepDef('one', 'One', 'Do.', {'ok': None}, Handler())))\n",
    "a choice that is computed": skill.source_of("odd", "StepDef('one', 'One', 'Do.', {'ok': 'nowhere'})")
    + "def Choice(*given): pass\nChoice('a', dict(b='c'))\n",
}


@pytest.mark.req("W-21")
@pytest.mark.parametrize("how", BROKEN)
def test_one_broken_skill_hides_no_other(how: str, cli: Command, installed: Install) -> None:
    installed("bad", skill.source_of("bad", BAD))
    installed("odd", BROKEN[how])
    shown = cli("validate", "--format", "json")
    assert shown.code == 5, shown.err
    found = {(one["rule"], one["file"]) for one in json.loads(shown.out)["findings"] if one["severity"] == "error"}
    assert ("unknown-target", "skills/bad/scripts/bad_workflow.py") in found
    assert any(file == "skills/odd/scripts/odd_workflow.py" for _, file in found)


def test_wrong_advice_is_not_given_for_a_route_that_is_a_text(cli: Command, installed: Install) -> None:
    installed("odd", skill.source_of("odd", "StepDef('plan', 'Plan', next='audience')"))
    shown = cli("validate")
    assert "step 'plan' next: 'audience' is not a mapping; write {Outcome.OK: 'audience'}" in shown.out
    assert "items" not in shown.out


def test_the_summary_counts_what_was_waived_and_json_lists_it(cli: Command, installed: Install) -> None:
    installed(
        "good", skill.source_of("good", "StepDef('one', '', 'Do.', {'ok': None}, allow={'missing-title': 'a test'})")
    )
    shown = cli("validate", "--strict")
    assert (shown.code, shown.out) == (0, "")
    assert shown.err == "Nothing is wrong in 1 skill, 1 workflow; 1 finding waived.\n"
    data = json.loads(cli("validate", "--format", "json").out)
    assert (data["waived"], data["findings"]) == (1, [])
    assert [(one["rule"], one["where"], one["waived"]) for one in data["waivers"]] == [
        ("missing-title", "good:one", "a test")
    ]


def test_a_step_of_a_helper_is_reported_with_its_line(cli: Command, installed: Install) -> None:
    source = f"""{skill.HEAD}def step(name, after):
    return StepDef(name, name.title(), 'Do.', {{Outcome.OK: after}})


WORKFLOW = Workflow(
    "odd",
    step("one", "tow"),
    step("two", None),
)
register_workflow(WORKFLOW)
"""
    installed("odd", source)
    shown = cli("validate")
    assert "odd_workflow.py:12: error[unknown-target] odd:one:ok" in shown.out
    assert "(step() makes one, in line 7)" in shown.out


IMPORTS = {
    "skills.lib": (
        "from skills.lib.workflow.core import *; from skills.lib.workflow.requirements import *; "
        "from skills.lib.workflow.types import *; from skills.lib.workflow.quality import review_loop; "
        "from skills.lib.prompts import read_prompts",
        "",
    ),
    "names of lockstep": (
        "from lockstep import AgentRole, Arg, Dispatch, Field, Outcome, StepContext, StepDef, Workflow, read_prompts, "
        "register_workflow, review_loop",
        "",
    ),
    "lockstep": ("import lockstep", "lockstep."),
    "lockstep by another name": ("import lockstep as core", "core."),
}
FAULTY = """
def again(ctx: {0}StepContext) -> {0}Outcome:
    return {0}Outcome.ITERATE if ctx.workflow_params["depht"] else {0}Outcome.OK

def made(id):
    return {0}StepDef(id, "Made", "Do {{never.noted}}.", {{{0}Outcome.OK: "nowhere"}})

PROMPTS = {0}read_prompts(__file__)
WORKFLOW = {0}Workflow(
    "faulty",
    {0}StepDef(
        "one",
        "One",
        PROMPTS["one"],
        {{{0}Outcome.OK: "two"}},
        again,
        requires=[{0}Field("unread")],
    ),
    made("two"),
    *{0}review_loop(
        "code", work="none", passed=None, reviewer={0}Dispatch({0}AgentRole.QUALITY_REVIEWER, task="Judge.")
    ),
    params=[{0}Arg("depth", step="one"), {0}Arg("nobody")],
)
{0}register_workflow(WORKFLOW)
"""


def test_every_import_of_the_same_graph_has_the_same_findings(cli: Command, project: Path) -> None:
    found = {}
    for kind, (imports, prefix) in IMPORTS.items():
        folder = project / kind.replace(" ", "-")
        script = skill.install(folder, "faulty", imports + FAULTY.format(prefix))
        script.with_name("faulty_prompts.md").write_text("## one\n\nDo it.\n\n## unused\n\nNever said.\n")
        (script.parent.parent / "SKILL.md").write_text(SKILL_MD.format(name="faulty"))
        findings = json.loads(cli("validate", str(folder / "skills"), "--format", "json").out)["findings"]
        found[kind] = [(one["rule"], one["line"], one["where"]) for one in findings]
    assert found["skills.lib"] == [
        ("unused-section", 5, "faulty"),
        ("handler-unrouted-outcome", 3, "faulty:one:iterate"),
        ("handler-read-before-write", 3, "faulty:one"),
        ("unread-value", 11, "faulty:one"),
        ("unknown-target", 19, "faulty:two:ok"),
        ("unreachable-step", 20, "faulty:code-review"),
        ("unknown-target", 21, "faulty:code-gate:fail"),
        ("unread-parameter", 23, "faulty:one"),
        ("unread-parameter", 23, "faulty:one"),
    ]
    assert found == dict.fromkeys(found, found["skills.lib"])
