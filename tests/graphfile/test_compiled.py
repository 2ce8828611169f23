"""What ``lockstep validate --seal`` compiles: the same workflow, printed the same, current, and nothing but data."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib import paths
from skills.lib.compact_json import digest
from skills.lib.errors import SkillError
from skills.lib.graphfile.compiling import compile_file, is_current
from skills.lib.runtime import loading

Command = Callable[..., tuple[int, str]]

ROOT = Path(__file__).parents[2]
SHIPPED = sorted(ROOT.glob("skills/*/workflow.yaml"))
TEA = """name: tea-time
title: Tea time
description: Makes tea.
steps:
  boil:
    title: Boil water
    do: Boil it & wait for "bubbles" <now>.
    requires:
      - heat: {type: int, help: degrees}
    outcomes: {ok: heat >= 95, iterate: else}
    next: {ok: null, iterate: boil}
    when: {ok: it boils, iterate: it does not}
    max_iterations: 3
"""
SKILL = "---\nname: tea-time\ndescription: Makes tea when somebody wants tea.\n---\n\n# Tea\n\n"
SKILL += "Run `scripts/tea_time.py --step 1`, and follow what it prints.\n"


@pytest.fixture
def tea(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a skill with a workflow.yaml, not compiled."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "skills" / "tea-time"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL, encoding="utf-8")
    (folder / "workflow.yaml").write_text(TEA, encoding="utf-8")
    entry = ROOT / "skills" / "decision-critic" / "scripts" / "decision_critic.py"
    (folder / "scripts" / "tea_time.py").write_text(entry.read_text(encoding="utf-8"), encoding="utf-8")
    return folder


def step(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LOCKSTEP_HOME": ""}
    command = [sys.executable, str(folder / "scripts" / "tea_time.py"), *words, "--project", str(folder.parents[1])]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.req("E-05")
@pytest.mark.parametrize("skill", ["decision-critic", "leon-writing-style"])
def test_what_is_loaded_is_what_the_yaml_says(skill: str) -> None:
    made = compile_file(str(ROOT / "skills" / skill / "workflow.yaml"))
    assert loading.load_workflow(made.target).fingerprint == made.workflow.fingerprint
    assert loading.load_workflow(made.target).to_data() == made.workflow.to_data()


@pytest.mark.parametrize("file", SHIPPED, ids=lambda path: path.parent.name)
def test_what_is_shipped_is_compiled_of_what_is_shipped(file: Path) -> None:
    assert is_current(str(file)), "run `make seals`"


@pytest.mark.req("E-05")
def test_a_step_is_printed_from_the_json_alone(tea: Path, cli: Command) -> None:
    assert cli("validate", "--seal", "skills")[0] == 0, cli("validate", "skills")[1]
    first = step(tea, "--step", "1", "--stateless")
    assert first.returncode == 0
    assert "Boil it &amp; wait for" in first.stdout
    (tea / "workflow.yaml").unlink()
    assert step(tea, "--step", "1", "--stateless").stdout == first.stdout


def test_rules_decide_in_a_run(tea: Path, cli: Command) -> None:
    cli("validate", "--seal", "skills")
    opened = step(tea, "--step", "1")
    run = opened.stdout.split(' run="')[1].split('"')[0]
    again = step(tea, "--step", "next", "--run", run, "--turn", "1", "--record", "heat=60")
    assert 'iteration="2"' in again.stdout
    done = step(tea, "--step", "next", "--run", run, "--turn", "2", "--record", "heat=98")
    assert done.stdout.startswith("<done"), done.stdout + done.stderr


@pytest.mark.req("E-05", "E-07")
def test_the_default_route_serves_a_word_that_a_rule_gives(tea: Path, cli: Command) -> None:
    graph = TEA.replace("iterate: else", "more-heat: else").replace("iterate: boil", "default: wait")
    graph = graph.replace("iterate: it does not", "default: it does not").replace("    max_iterations: 3\n", "")
    graph += "  wait: {title: Wait, do: Wait.}\n"
    (tea / "workflow.yaml").write_text(graph, encoding="utf-8")
    assert cli("validate", "--seal", "skills")[0] == 0
    run = step(tea, "--step", "1").stdout.split(' run="')[1].split('"')[0]
    again = step(tea, "--step", "next", "--run", run, "--turn", "1", "--record", "heat=60")
    assert 'id="wait"' in again.stdout, again.stderr


@pytest.mark.req("E-05")
def test_an_edit_after_compiling_is_told_with_the_command(tea: Path, cli: Command) -> None:
    never = step(tea, "--step", "1", "--stateless")
    assert (never.returncode, "workflow.yaml was never compiled" in never.stderr) == (5, True)
    assert cli("validate", "skills")[0] == 5
    cli("validate", "--seal", "skills")
    assert cli("validate", "skills")[0] == 0
    (tea / "workflow.yaml").write_text(TEA.replace("95", "96"), encoding="utf-8")
    os.utime(tea / "workflow.yaml", (1, 1))  # the same size, and older
    stale = step(tea, "--step", "1", "--stateless")
    assert stale.returncode == 5
    assert stale.stderr == (
        f"lockstep: {tea}/workflow.yaml has changed since it was compiled\n  try:   lockstep validate --seal {tea}\n"
    )
    told = cli("validate", "skills")
    assert (told[0], "error[stale-workflow] tea-time" in told[1]) == (5, True)
    cli("validate", "--seal", "skills")
    assert step(tea, "--step", "1", "--stateless").returncode == 0


def test_other_line_ends_are_no_change(tea: Path, cli: Command) -> None:
    cli("validate", "--seal", "skills")
    (tea / "workflow.yaml").write_bytes(TEA.replace("\n", "\r\n").encode())
    assert step(tea, "--step", "1", "--stateless").returncode == 0


@pytest.mark.req("E-05")
def test_a_finding_of_a_graph_has_the_line_of_the_yaml(tea: Path, cli: Command) -> None:
    (tea / "workflow.yaml").write_text(TEA.replace("ok: null", "ok: pour"), encoding="utf-8")
    told = cli("validate", "skills")
    assert told[0] == 5
    assert "skills/tea-time/workflow.yaml:11: error[unknown-target] tea-time:boil:ok" in told[1]


@pytest.mark.req("E-05")
def test_a_finding_of_a_workflow_or_a_parameter_is_in_the_yaml_and_not_in_the_json(tea: Path, cli: Command) -> None:
    about = "name: tee-time\nparams:\n  guest: who drinks\nends: {no-leaves: pass}"
    (tea / "workflow.yaml").write_text(TEA.replace("name: tea-time", about), encoding="utf-8")
    for told in (cli("validate", "skills")[1], cli("validate", "--seal", "skills")[1], cli("validate", "skills")[1]):
        assert "skills/tea-time/workflow.yaml:1: error[meaning-of-no-end] tee-time" in told
        assert "skills/tea-time/workflow.yaml:3: warning[unread-parameter] tee-time:boil" in told
        assert "workflow.json:" not in told


@pytest.mark.parametrize("command", ["show", "graph"])
def test_what_is_shown_is_the_yaml_as_it_is_now(tea: Path, cli: Command, command: str) -> None:
    (tea / "workflow.yaml").write_text(TEA.replace("Boil water", "Warm it"), encoding="utf-8")
    assert "Warm it" in cli(command, "tea-time")[1]
    assert "Warm it" in cli(command, str(tea / "workflow.yaml"))[1]
    assert "tea-time" in cli("list", "skills")[1]


# Hostile JSON


def planted(tea: Path, cli: Command, **changes: object) -> Path:
    """The compiled JSON with some entries of its step replaced, and no source beside it."""
    cli("validate", "--seal", "skills")
    (tea / "workflow.yaml").unlink()
    file = Path(paths.compiled_of(str(tea / "workflow.yaml")))
    data = json.loads(file.read_text(encoding="utf-8"))
    data["workflow"]["steps"][0] |= changes
    file.write_text(json.dumps(data), encoding="utf-8")
    return file


@pytest.mark.req("E-05")
@pytest.mark.parametrize(
    "name",
    [
        "os:_exit",
        "planted:f",
        "lockstep_skill.tea-time.scripts.../planted:f",
        "lockstep_skill.tea-time.planted:f",
        "lockstep_skill.other.scripts.planted:f",
        "lockstep_skill.tea-time.scripts.missing:f",
        "lockstep_skill.tea-time.scripts.tea_time:root",
        7,
    ],
)
def test_nothing_that_json_names_is_imported_but_a_file_beside_it(tea: Path, cli: Command, name: object) -> None:
    for place in (tea, tea.parent, tea / "scripts" / ".."):
        (place / "planted.py").write_text("open('ran', 'w')\ndef f(ctx): ...\n", encoding="utf-8")
    file = planted(tea, cli, handler={"$call": name})
    with pytest.raises(SkillError):
        loading.load_workflow(str(file))
    assert not (tea.parents[1] / "ran").exists()


def test_a_link_to_a_handler_outside_is_refused(tea: Path, cli: Command) -> None:
    (tea.parent / "planted.py").write_text("open('ran', 'w')\ndef f(ctx): ...\n", encoding="utf-8")
    (tea / "scripts" / "planted.py").symlink_to(tea.parent / "planted.py")
    file = planted(tea, cli, handler={"$call": "lockstep_skill.tea-time.scripts.planted:f"})
    with pytest.raises(SkillError, match="is a link that leads out of its folder"):
        loading.load_workflow(str(file))
    assert not (tea.parents[1] / "ran").exists()


def test_sources_outside_of_the_skill_are_not_read(tea: Path, cli: Command) -> None:
    file = planted(tea, cli)
    data = json.loads(file.read_text(encoding="utf-8"))
    for name in ("../../../secret", "/etc/passwd", "a/../../b", "..", ""):
        file.write_text(json.dumps({**data, "sources": {name: "x"}}), encoding="utf-8")
        with pytest.raises(SkillError, match="names a source outside of the skill"):
            loading.load_workflow(str(file))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format":2,"sources":{},"workflow":{}}', "{" * 9, '{"format":1}'])
def test_json_of_another_form_is_refused(tea: Path, cli: Command, text: str) -> None:
    file = planted(tea, cli)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SkillError):
        loading.load_workflow(str(file))


def test_a_changed_graph_in_json_has_another_fingerprint(tea: Path, cli: Command) -> None:
    file = planted(tea, cli)
    before = loading.load_workflow(str(file)).fingerprint
    data = json.loads(file.read_text(encoding="utf-8"))
    data["workflow"]["steps"][0]["title"] = "Boil no water"
    file.write_text(json.dumps(data), encoding="utf-8")
    found = loading.load_workflow(str(file))
    assert found.fingerprint != before
    assert found.fingerprint == digest(found.to_data())


def test_a_handler_in_a_file_beside_the_script_decides(tea: Path, cli: Command) -> None:
    code = "from skills.lib.workflow.types import Outcome\n\n\ndef judge(ctx):\n"
    code += "    return Outcome.OK if ctx.step_state['heat'] > 5 else Outcome.ITERATE\n"
    (tea / "scripts" / "decide.py").write_text(code, encoding="utf-8")
    text = TEA.replace("outcomes: {ok: heat >= 95, iterate: else}", "handler: decide.py:judge")
    (tea / "workflow.yaml").write_text(text, encoding="utf-8")
    assert cli("validate", "--seal", "skills")[0] == 0, cli("validate", "skills")[1]
    opened = step(tea, "--step", "1")
    run = opened.stdout.split(' run="')[1].split('"')[0]
    assert step(tea, "--step", "next", "--run", run, "--turn", "1", "--record", "heat=9").stdout.startswith("<done")


def test_an_exported_skill_with_rules_runs_alone(tea: Path, cli: Command, tmp_path: Path) -> None:
    assert cli("validate", "--seal", "skills")[0] == 0, cli("validate", "skills")[1]
    assert cli("export", str(tea), "--to", str(tmp_path / "out"))[0] == 0
    (made,) = (tmp_path / "out").glob("**/tea_time.py")
    shutil.move(made.parents[1], tmp_path / "alone")
    command = [sys.executable, "-I", "-S", str(tmp_path / "alone" / "scripts" / "tea_time.py")]
    environment = {"PATH": "", "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    run = ""
    for words in (["--step", "1"], ["--step", "next", "--turn", "1", "--record", "heat=99"]):
        words += ["--run", run] if run else []
        done = subprocess.run(
            [*command, *words, "--project", str(tmp_path)], env=environment, capture_output=True, text=True, timeout=60
        )
        assert (done.returncode, done.stderr) == (0, "")
        run = done.stdout.split(' run="')[1].split('"')[0]
    assert done.stdout.startswith("<done")


def test_a_fifo_in_the_place_of_the_json_is_not_waited_for_and_a_link_is_replaced(tea: Path, cli: Command) -> None:
    json_file, outside = tea / "scripts" / "tea_time_workflow.json", tea.parents[1].parent / "outside.txt"
    os.mkfifo(json_file)
    assert "not compiled yet" in cli("validate", str(tea))[1]
    json_file.unlink()
    outside.write_text("kept")
    json_file.symlink_to(outside)
    assert "is older than its source" in cli("validate", str(tea))[1]
    assert cli("validate", "--seal", str(tea))[0] == 0
    assert (outside.read_text(), json_file.is_symlink()) == ("kept", False)


def test_texts_that_are_a_link_out_of_the_project_are_not_read(tea: Path, cli: Command) -> None:
    (tea.parents[1] / ".git").mkdir()
    outside = tea.parents[1].parent / "texts.md"
    outside.write_text("## boil (forbidden)\n\nsecret\n")
    (tea / "workflow.md").symlink_to(outside)
    code, said = cli("validate", str(tea))
    assert (code, "workflow.md:1" in said, "secret" in said) == (5, True, False)
    assert "it is a link that leads out of its project" in said


@pytest.mark.parametrize("name", ["a\0b", "a\ud800"])
def test_a_name_that_no_file_can_have_is_refused(tea: Path, cli: Command, name: str) -> None:
    file = planted(tea, cli)
    data = json.loads(file.read_text(encoding="utf-8"))
    data["workflow"]["name"] = name
    file.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(SkillError):
        loading.load_workflow(str(file))
