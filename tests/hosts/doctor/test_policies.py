"""The doctor on the files that decide for a project: its policy and its gateway."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skills.lib.hosts.doctor import registry
from skills.lib.hosts.doctor.examination import DoctorContext, Result
from tests.hosts.doctor.examined import of

POLICY = 'mode: look\ntools:\n  shell(git push):\n    needs: $branch != "main"\n'
NONE = ("ok", "the project has no policy of its own")


def told(project: Path) -> list[Result]:
    return of(list(registry.examine(DoctorContext(str(project), ()))), "project", "policy")


def shown(project: Path) -> list[tuple[str, str]]:
    return [(one.status, one.what) for one in told(project)]


@pytest.mark.req("G-06", "H-03")
def test_a_policy_is_counted_and_a_project_may_have_none(tmp_path: Path) -> None:
    assert shown(tmp_path) == [NONE]
    (tmp_path / "lockstep.policy.yaml").write_text(POLICY)
    assert shown(tmp_path) == [("ok", "the project's policy: 1 rule, mode look")]


@pytest.mark.req("G-06", "H-03")
@pytest.mark.parametrize("name", ["lockstep.policy.yml", "Lockstep.Policy.yaml", "lockstep.gateway.YML"])
def test_a_file_that_is_meant_as_one_and_not_read_is_named(name: str, tmp_path: Path) -> None:
    """Its user takes the project for guarded, and nothing else says that it is not."""
    (tmp_path / name).write_text(POLICY)
    none, warned = told(tmp_path)
    meant = f"{name.lower().removesuffix('.yml').removesuffix('.yaml')}.yaml"
    assert (none.status, none.what) == NONE
    assert (warned.status, warned.what) == ("warning", f"{name} is not read: the file is called {meant}")
    assert warned.remedy == f"mv {tmp_path / name} {tmp_path / meant}"


@pytest.mark.req("G-06", "H-03")
def test_a_policy_that_cannot_be_used_is_a_problem_with_its_line(tmp_path: Path) -> None:
    place = tmp_path / "lockstep.policy.yaml"
    place.write_text(POLICY.replace("needs", "neds"))
    [broken] = told(tmp_path)
    assert (broken.status, broken.what.partition(" ")[0]) == ("problem", f"{place}:4:")
    place.write_bytes(b"\xff\xfe")
    [unread] = told(tmp_path)
    assert (unread.status, unread.where) == ("problem", str(place))
    place.unlink()
    os.mkfifo(place)
    assert [one.status for one in told(tmp_path)] == ["problem"]
