"""The registry of phases: what it says, what of a project replaces what, and everything that is wrong with one."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib.errors import SkillError, UsageError
from skills.lib.layers import registry
from skills.lib.layers.registry import Registry
from tests.fixtures.skill import ROOT

pytestmark = pytest.mark.req("L-04")
KNOWN = ("core-one", "adapter-one", "adapter-two")
GOOD = """\
skills:
  core-one: core
  adapter-one: adapter
  adapter-two: adapter
aliases: {old/core-one: core-one, older: old/core-one}
phases:
  check: [older, adapter-one, adapter-two]
"""


def read(folder: Path, *texts: str) -> Registry:
    """The registries of these texts, a later one over an earlier."""
    files = [folder / f"registry{at}.yaml" for at, _ in enumerate(texts)]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    return registry.load([str(file) for file in files])


def faults(folder: Path, *texts: str) -> list[str]:
    """What is wrong, each as ``line: what -> what to do``."""
    return [f"{fault.line}: {fault.what} -> {fault.do}" for fault in read(folder, *texts).check(KNOWN)]


def test_a_phase_has_its_skills_in_order_with_their_layers(tmp_path: Path) -> None:
    found = read(tmp_path, GOOD).phase("check")
    assert [(one.skill, one.listed, one.layer) for one in found.members] == [
        ("core-one", "older", "core"),
        ("adapter-one", "adapter-one", "adapter"),
        ("adapter-two", "adapter-two", "adapter"),
    ]
    assert (found.line, found.of("core"), found.of("adapter")) == (7, ["core-one"], ["adapter-one", "adapter-two"])
    assert faults(tmp_path, GOOD) == []


def test_a_projects_phase_replaces_the_one_of_the_same_name_and_that_is_said(tmp_path: Path) -> None:
    found = read(tmp_path, GOOD, "phases: {check: [adapter-two], more: [core-one, adapter-one]}")
    assert [one.skill for one in found.phase("check").members] == ["adapter-two"]
    assert [one.skill for one in found.phase("more").members] == ["core-one", "adapter-one"]
    [said] = found.settled["check"]
    assert said.startswith("check is [adapter-two] of ")
    assert said.endswith(
        "registry1.yaml:1, not [older, adapter-one, adapter-two] of " + str(tmp_path / "registry0.yaml:7")
    )


def test_an_unknown_phase_has_its_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no phase 'chek'; did you mean check"):
        read(tmp_path, GOOD).phase("chek")


@pytest.mark.parametrize(
    "text, told",
    [
        ("skills: {core-on: core}", [
            "1: there is no skill 'core-on'; did you mean core-one? -> name a skill that there is"
        ]),
        ("skills:\n  core-one: cor", ["2: the layer of core-one is 'cor'; did you mean core? -> one of core, adapter"]),
        ("phaes: {}", ["1: the registry has no field 'phaes'; did you mean phases? -> one of skills, aliases, phases"]),
        ("skills:\n  a: core\n  a: core", ["3: the registry has the key 'a' twice -> keep one of them"]),
        ("skills: &x {a: core}", ["1: the registry has an anchor (&) -> write the value out"]),
        ("- a", ["1: the registry is not a mapping of fields -> write one `field: text` per line"]),
        ("skills: {core-one: core}\naliases: {a: b, b: a}", [
            "2: the alias 'a' leads back to 'a' -> let it name a skill",
            "2: the alias 'b' leads back to 'b' -> let it name a skill",
        ]),
        ("skills: {core-one: core}\naliases: {a: core-on}", [
            "2: the alias 'a' names no skill of the registry: 'core-on'; did you mean core-one? -> name one"
        ]),
        ("skills: {core-one: core}\naliases: {core-one: core-one}", [
            "2: 'core-one' is a skill, and no alias -> take the alias out"
        ]),
        ("phases: {check: adapter-one}", [
            "1: the phase check is 'adapter-one' -> a list of skills: [safe-shell-search, planner]"
        ]),
        ("phases: {Check: [a]}", ["1: 'Check' is not the name of a phase -> small letters, digits, _ and -"]),
    ],
)  # fmt: skip
def test_what_is_wrong_has_its_line_and_the_nearest_name(text: str, told: list[str], tmp_path: Path) -> None:
    assert faults(tmp_path, text) == told


@pytest.mark.parametrize(
    "listed, told",
    [
        ("adapter-one, core-one", ["the phase p has the adapter adapter-one under the core core-one"]),
        ("core-one", ["the phase p has no adapter, so that nothing opens a run"]),
        ("core-one, older, adapter-one", ["the phase p has core-one twice"]),
        ("core-one, adapter-tow", [
            "the phase p has 'adapter-tow', which is no skill of the registry; did you mean adapter-two?",
            "the phase p has no adapter, so that nothing opens a run",
        ]),
    ],
)  # fmt: skip
def test_the_order_of_a_phase_is_checked(listed: str, told: list[str], tmp_path: Path) -> None:
    found = read(tmp_path, f"{GOOD}  p: [{listed}]\n")
    assert [fault.what for fault in found.check(KNOWN)] == told
    with pytest.raises(SkillError, match=r"registry0\.yaml:8: the phase p"):
        found.phase("p")
    assert found.phase("check").members


def test_a_skill_that_is_not_there_is_told_for_each_phase_that_needs_it(tmp_path: Path) -> None:
    found = [fault.what for fault in read(tmp_path, GOOD).check(("core-one", "adapter-two"))]
    assert found == [
        "there is no skill 'adapter-one'; did you mean adapter-two?",
        "the phase check needs the skill adapter-one, which is not there",
    ]


def test_a_file_that_is_a_link_to_a_device_or_no_text_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").symlink_to("/dev/zero")
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe")
    found = registry.load([str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml"), str(tmp_path / "none.yaml")])
    assert [fault.what for fault in found.faults] == [
        "the registry is a link that leads out of its project",
        "is not UTF-8 text",
    ]


def test_the_shipped_registry_names_shipped_skills_in_order() -> None:
    found = registry.load([str(ROOT / "skills" / "registry.yaml")])
    assert found.check([file.parent.name for file in ROOT.glob("skills/*/SKILL.md")]) == []
    assert found.resolved("skills/common/safe-shell-search") == "safe-shell-search"
    for name in found.phases:
        assert found.phase(name).of("adapter")


def test_the_check_of_a_task_has_its_three_skills_also_by_their_old_names() -> None:
    found = registry.load([str(ROOT / "skills" / "registry.yaml")])
    names = [(one.skill, one.layer) for one in found.phase("task_spec_check").members]
    assert names == [("safe-shell-search", "core"), ("task-spec-check", "adapter"), ("code-quality", "adapter")]
    for old in ("jeeves-task-spec-check", "skills/implement/jeeves-task-spec-check"):
        assert found.resolved(old) == "task-spec-check"
