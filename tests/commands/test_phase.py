"""``lockstep phase``."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from skills.lib import paths
from skills.lib.blocks.command_line import lockstep_command
from tests.commands.conftest import Command
from tests.fixtures.skill import ROOT

PROMPT = "# Check\n\n<tooling_guidance>\n- Search first.\n</tooling_guidance>\n\nCheck it.\n"
SLIM = """\
# Check

Follow the skill safe-shell-search for every search, read and shell command.

Check it.

<layered_skills phase="code_review">
Run this first, and do what each printed block says, until one says that the run is done:
LOCKSTEP phase code_review --start --project PROJECT -- --subject FILL_subject
The rules of safe-shell-search hold in every step of it.
</layered_skills>
"""


@pytest.fixture
def issue(project: Path) -> Path:
    """An issue that wants layered skills, beside a prompt."""
    (project / "review.md").write_text(PROMPT)
    path = project / "issue.json"
    path.write_text(
        json.dumps({"id": 7, "status": {"designClassifyComplete": True, "settings": {"useLayeredSkills": True}}})
    )
    return path


def slim(project: Path) -> str:
    """The layered prompt, with the places of this machine."""
    command = " ".join(map(shlex.quote, lockstep_command()))
    return SLIM.replace("LOCKSTEP", command).replace("PROJECT", str(project))


def recorded(project: Path) -> list[dict[str, object]]:
    """What the project's record of phases has, without the time."""
    lines = (project / ".lockstep" / "phases.jsonl").read_text().splitlines()
    return [{name: value for name, value in json.loads(line).items() if name != "at"} for line in lines]


@pytest.fixture(autouse=True)
def ledger_in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCKSTEP_HOME", raising=False)


@pytest.mark.req("L-04")
def test_every_phase_is_listed_with_its_skills(cli: Command) -> None:
    shown = cli("phase")
    assert (shown.code, shown.err) == (0, "")
    assert "code_review      safe-shell-search (core), code-quality" in shown.out
    found = json.loads(cli("phase", "--json").out)
    assert [one["skill"] for one in found["phases"][-1]["members"]] == ["safe-shell-search", "code-quality"]
    assert found["faults"] == []


@pytest.mark.req("L-01", "L-04")
def test_a_phase_says_what_each_skill_contributes(cli: Command) -> None:
    shown = cli("phase", "code_review")
    assert (shown.code, shown.err) == (0, "")
    assert "1      safe-shell-search  core     policy policy.yaml, tools read search shell, 2 rules (" in shown.out
    assert "2      code-quality       adapter  its run: 2 steps" in shown.out
    assert "  lockstep phase code_review --start -- --subject FILL_subject" in shown.out
    found = json.loads(cli("phase", "code_review", "--json").out)
    assert found["members"][0]["contributes"]["policy"] == "policy.yaml"
    assert len(found["members"][0]["contributes"]["rules"]) == 2


@pytest.mark.req("L-04")
def test_a_projects_registry_is_laid_over_the_shipped_one(cli: Command, project: Path) -> None:
    (project / "skills").mkdir()
    (project / "skills/registry.yaml").write_text("phases:\n  code_review: [code-quality]\n  x: [safe-shell-search]\n")
    shown = cli("phase", "code_review")
    assert "code_review  skills/registry.yaml:2" in shown.out
    assert "code_review is [code-quality] of " in shown.out
    shown = cli("phase")
    assert shown.code == 5
    assert "skills/registry.yaml:3: the phase x has no adapter, so that nothing opens a run" in shown.err
    shown = cli("validate")
    assert shown.code == 5
    assert "skills/registry.yaml:3: error[registry] registry" in shown.out


@pytest.mark.req("L-04")
def test_a_wrong_name_is_refused_with_the_nearest(cli: Command) -> None:
    shown = cli("phase", "code_reviw")
    assert (shown.code, shown.out) == (2, "")
    assert "there is no phase 'code_reviw'; did you mean code_review?" in shown.err
    shown = cli("phase", "code_review", "--start", "--skill", "code-qualty")
    assert "'code-qualty' is no adapter of code_review; did you mean code-quality?" in shown.err
    shown = cli("phase", "code_review", "--issue", "x")
    assert "--issue goes with --prompt" in shown.err
    assert "--start needs a phase" in cli("phase", "--start").err


@pytest.mark.req("L-06")
def test_without_the_setting_the_old_prompt_is_given_as_it_is(cli: Command, issue: Path, project: Path) -> None:
    for text in ('{"status": {"settings": {"useLayeredSkills": false}}}', '{"status": {}}', "{}"):
        issue.write_text(text)
        shown = cli("phase", "code_review", "--issue", "issue.json", "--prompt", "review.md")
        assert (shown.code, shown.out, shown.err) == (0, PROMPT, "")
    assert [one["layered"] for one in recorded(project)] == [False, False, False]


@pytest.mark.req("L-06")
def test_with_the_setting_the_slim_prompt_and_the_skills_are_given(cli: Command, issue: Path, project: Path) -> None:
    shown = cli("phase", "code_review", "--issue", "issue.json", "--prompt", "review.md")
    assert (shown.code, shown.out, shown.err) == (0, slim(project), "")
    assert recorded(project) == [
        {
            "phase": "code_review",
            "issue": "issue.json",
            "prompt": "review.md",
            "layered": True,
            "because": "status.settings.useLayeredSkills is true in issue.json",
            "fallback": "",
        }
    ]
    assert (project / "review.md").read_text() == PROMPT


@pytest.mark.req("L-06")
def test_the_projects_setting_holds_if_the_issue_does_not_say(cli: Command, issue: Path, project: Path) -> None:
    (project / "lockstep.toml").write_text("[phases]\nuse_layered_skills = true\n")
    issue.write_text("{}")
    assert cli("phase", "code_review", "--issue", "issue.json", "--prompt", "review.md").out == slim(project)
    assert cli("phase", "code_review", "--prompt", "review.md").out == slim(project)
    issue.write_text('{"status": {"settings": {"useLayeredSkills": false}}}')
    assert cli("phase", "code_review", "--issue", "issue.json", "--prompt", "review.md").out == PROMPT
    issue.write_text('{"status": {"settings": {"useLayeredSkills": "yes"}}}')
    assert (
        "useLayeredSkills is 'yes'" in cli("phase", "code_review", "--issue", "issue.json", "--prompt", "review.md").err
    )


@pytest.mark.req("L-06")
@pytest.mark.parametrize(
    "phase, text, why",
    [
        (
            "code_review",
            "phases: {code_review: [code-quality, safe-shell-search]}",
            "has the adapter code-quality under",
        ),
        (
            "code_review",
            "skills: {gone: adapter}\nphases: {code_review: [gone]}",
            "the skill gone of the phase code_review",
        ),
        (
            "code_review",
            "skills: {gone: adapter}\nphases: {code_review: [safe-shell-search, gone]}",
            "the skill gone of the phase code_review cannot be used: there is no skill 'gone'",
        ),
        ("code_review", "phases: [", "the registry"),
        ("other", "", "there is no phase 'other'"),
    ],
)
def test_a_skill_that_cannot_be_used_falls_back_to_the_old_prompt_which_is_told_and_recorded(
    phase: str, text: str, why: str, cli: Command, issue: Path, project: Path
) -> None:
    (project / "skills").mkdir()
    (project / "skills/registry.yaml").write_text(text or "phases:\n")
    shown = cli("phase", phase, "--issue", "issue.json", "--prompt", "review.md")
    assert (shown.code, shown.out) == (0, PROMPT)
    assert "fallback: review.md is given as it is, because " in shown.err
    assert why in shown.err
    [kept] = recorded(project)
    assert kept["layered"] is False
    assert why in str(kept["fallback"])


@pytest.mark.req("L-06")
@pytest.mark.parametrize(
    "text, named",
    [
        ('{"status": {"settings": {"useLayeredSkils": true}}}', "status.settings.useLayeredSkils"),
        ('{"status": {"useLayeredSkills": true}}', "status.useLayeredSkills"),
        ('{"useLayeredSkills": true}', "useLayeredSkills"),
    ],
)
def test_a_setting_that_is_nearly_the_one_is_told(
    text: str, named: str, cli: Command, issue: Path, project: Path
) -> None:
    issue.write_text(text)
    shown = cli("phase", "code_review", "--issue", "issue.json", "--prompt", "review.md")
    assert (shown.code, shown.out) == (0, PROMPT)
    assert shown.err == f"note: issue.json has {named}; did you mean status.settings.useLayeredSkills?\n"
    assert named in str(recorded(project)[0]["because"])


@pytest.mark.req("L-06")
def test_a_prompt_that_is_not_there_is_told(cli: Command, issue: Path) -> None:
    shown = cli("phase", "code_review", "--issue", "issue.json", "--prompt", "reviw.md")
    assert (shown.code, shown.out) == (2, "")
    assert "the prompt reviw.md cannot be read: No such file or directory" in shown.err


@pytest.mark.req("L-06")
def test_a_prompt_is_given_whatever_its_bytes_and_if_nothing_can_be_recorded(
    cli: Command, issue: Path, project: Path
) -> None:
    (project / "review.md").write_bytes(b"# R\xe9\r\n")
    (project / ".lockstep").symlink_to(project.parent)
    for text in ("{}", issue.read_text()):
        issue.write_text(text)
        shown = cli("phase", "code_review", "--issue", "issue.json", "--prompt", "review.md", "--json")
        assert shown.code == 0
        assert json.loads(shown.out)["text"] == "# R\ufffd\r\n"
        assert "not recorded: " in shown.err
    assert not (project.parent / "phases.jsonl").exists()


@pytest.mark.req("L-04")
def test_a_project_with_a_registry_alone_is_validated(cli: Command, project: Path) -> None:
    (project / "skills").mkdir()
    (project / "skills/registry.yaml").write_text("phases: {review: [code-quality]}\n")
    good = cli("validate")
    assert (good.code, good.err) == (0, "Nothing is wrong in the registry of phases.\n")
    (project / "skills/registry.yaml").write_text("phases: {review: [safe-shell-search]}\n")
    bad = cli("validate")
    assert (bad.code, bad.err) == (5, "1 error, 0 warnings in the registry of phases.\n")


@pytest.mark.req("L-01", "L-04")
def test_a_phase_whose_skills_do_not_go_together_is_found_by_validate(cli: Command, project: Path) -> None:
    for name, tools in (("narrow", "[read, shell(git log)]"), ("wide", "[read, shell(npm)]")):
        scripts = project / "skills" / name / "scripts"
        scripts.mkdir(parents=True)
        entry = ROOT / "skills/decision-critic/scripts/decision_critic.py"
        (scripts / f"{name}.py").write_text(entry.read_text(encoding="utf-8"), encoding="utf-8")
        (scripts.parent / "SKILL.md").write_text(
            f"---\nname: {name}\ndescription: Is {name}. Use it.\n---\nRun `scripts/{name}.py --step 1`.\n"
        )
        (scripts.parent / "workflow.yaml").write_text(
            f"name: {name}\ntools: {tools}\nsteps: {{a: {{title: A, do: x}}}}\n"
        )
    registry = project / "skills/registry.yaml"
    registry.write_text("skills: {narrow: core, wide: adapter}\nphases:\n  good: [wide]\n  bad: [narrow, wide]\n")
    assert cli("validate", "--seal", "skills").code == 5
    shown = cli("validate", "skills")
    assert (shown.code, shown.err) == (5, "1 error, 0 warnings in 2 skills, 2 workflows.\n")
    assert (
        "skills/registry.yaml:4: error[registry] registry\n"
        "  the phase bad cannot be opened: wide, step a: nothing is left of shell over narrow\n"
    ) in shown.out
    assert "do:  lockstep phase bad says what each skill contributes" in shown.out


@pytest.mark.req("L-04", "L-05")
def test_links_out_of_the_project_are_neither_read_nor_written(cli: Command, project: Path) -> None:
    secret = project.parent / "secret"
    secret.write_text("hidden: x\n")
    (project / "skills").mkdir()
    (project / "skills/registry.yaml").symlink_to(secret)
    (project / "AGENTS.md").symlink_to(secret)
    shown = cli("phase")
    assert shown.code == 5
    assert "the registry is a link that leads out of its project" in shown.err
    assert "hidden" not in shown.err
    assert cli("phase", "--agents", "AGENTS.md", "--write").code == 3
    assert secret.read_text() == "hidden: x\n"


@pytest.mark.req("L-04")
def test_prompts_are_written_only_by_the_plan_of_a_dry_run(cli: Command, issue: Path, project: Path) -> None:
    (project / "other.md").write_text(PROMPT.replace("first", "last"))
    (project / "third.md").write_text(PROMPT)
    shown = cli("phase", "--prompts", ".")
    assert shown.code == 0
    assert "review.md  identical" in shown.out
    assert "other.md   drifted" in shown.out
    assert "+Follow the skill safe-shell-search for every search, read and shell command." in shown.out
    plan = json.loads(cli("phase", "--prompts", ".", "--json").out)["plan"]
    assert f"lockstep phase --prompts . --write --plan {plan}" in shown.err
    for words in ((), ("--plan", "0" * 12)):
        refused = cli("phase", "--prompts", ".", "--write", *words)
        assert (refused.code, refused.out) == (3, "")
    assert (project / "review.md").read_text() == PROMPT
    assert cli("phase", "--prompts", ".", "--write", "--plan", plan).code == 0
    assert (project / "review.md").read_text() == "# Check\n\n" + SLIM.split("\n")[2] + "\n\nCheck it.\n"
    assert "last" in (project / "other.md").read_text()


@pytest.mark.req("L-05")
def test_the_listing_of_skills_is_shown_written_and_checked(cli: Command, project: Path) -> None:
    skill = project / "skills/mine"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: mine\ndescription: Does mine. Use it when asked.\n---\nDo it.\n")
    (project / "AGENTS.md").write_text("# Rules\n")
    (project / "AGENTS.md").rename(project / "my agents.md")
    missing = cli("phase", "--agents", "my agents.md", "--check")
    assert (missing.code, missing.err) == (
        5,
        f"{project}/my agents.md has no listing. Try: lockstep phase --agents 'my agents.md' --write\n",
    )
    (project / "my agents.md").rename(project / "AGENTS.md")
    assert "+- mine: Does mine. (file: skills/mine/SKILL.md)" in cli("phase", "--agents", "AGENTS.md").out
    assert (project / "AGENTS.md").read_text() == "# Rules\n"
    assert cli("phase", "--agents", "AGENTS.md", "--write").code == 0
    assert (project / "AGENTS.md").read_text().startswith("# Rules\n\n<!-- lockstep skills: ")
    assert cli("phase", "--agents", "AGENTS.md", "--check").code == 0
    (skill / "SKILL.md").write_text("---\nname: mine\ndescription: Does more. Use it when asked.\n---\nDo it.\n")
    stale = cli("phase", "--agents", "AGENTS.md", "--check")
    assert (stale.code, stale.err) == (
        5,
        "The listing in AGENTS.md is stale. Try: lockstep phase --agents AGENTS.md --write\n",
    )


@pytest.mark.req("L-05")
def test_the_listing_of_this_tree_is_up_to_date(cli: Command) -> None:
    shown = cli("phase", "--agents", str(ROOT / "AGENTS.md"), "--check", "--project", str(ROOT))
    assert (shown.code, shown.err) == (0, "The listing is up to date.\n")


@pytest.mark.req("L-04")
def test_a_core_of_the_project_in_place_of_the_shipped_one_is_told_wherever_the_phase_is_used(
    cli: Command, issue: Path, project: Path
) -> None:
    for name in ("safe-shell-search", "code-quality"):
        shutil.copytree(ROOT / "skills" / name, project / "skills" / name)
    assert "differs" not in cli("phase", "code_review").out
    (project / "skills/safe-shell-search/scripts/policy.yaml").write_text("mode: warn\ntools: {}\n")
    said = "safe-shell-search is that of skills/safe-shell-search, which differs from the one of Lockstep"
    assert said in cli("phase", "code_review").out
    assert said in cli("phase", "code_review", "--issue", "issue.json", "--prompt", "review.md").err
    assert said in cli("phase", "code_review", "--start", "--", "--subject", "it").err
    (project / "skills/registry.yaml").write_text("skills: {safe-shell-search: adapter}\n")
    demoted = "safe-shell-search is adapter of "
    assert demoted in cli("phase", "code_review").out
    assert demoted in cli("phase", "code_review", "--issue", "issue.json", "--prompt", "review.md").err


@pytest.mark.req("L-01")
def test_a_policy_alone_in_the_place_of_a_core_is_not_taken(cli: Command, project: Path) -> None:
    planted = project / "skills/safe-shell-search/scripts/policy.yaml"
    planted.parent.mkdir(parents=True)
    planted.write_text("mode: warn\ntools: {}\n")
    script = str(project / "skills/mine/scripts/mine.py")
    shipped = str(ROOT / "skills/safe-shell-search/scripts/policy.yaml")
    assert paths.of_layer(script, str(project), "safe-shell-search", "policy.yaml") == shipped
