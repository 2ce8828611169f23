"""Each host finds the skills that the listing in AGENTS.md has."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib.hosts.known_hosts import KNOWN
from skills.lib.layers import listing
from skills.lib.skillfile import discover
from tests.hosts.conftest import Command


@pytest.mark.slow
@pytest.mark.req("L-05")
def test_every_host_finds_the_set_that_the_listing_has(cli: Command, project: Path, home: Path) -> None:
    names = ["safe-shell-search", "code-quality"]
    for host in KNOWN:
        chosen = [word for name in names for word in ("--skill", name)]
        assert cli("install", host, "--scope", "project", "--no-hooks", *chosen).code == 0
    assert cli("phase", "--agents", "AGENTS.md", "--write").code == 0
    listed = listing.listed_in((project / "AGENTS.md").read_text(encoding="utf-8"))
    found = {host: sorted(one.name for one in discover(project.joinpath(*its.skills))) for host, its in KNOWN.items()}
    assert found == dict.fromkeys(KNOWN, listed)
    assert listed == sorted(names)


@pytest.mark.req("L-05")
def test_the_listing_looks_wherever_a_host_does(cli: Command, project: Path) -> None:
    for at, folder in enumerate(sorted({its.skills for its in KNOWN.values()})):
        skill = project.joinpath(*folder, f"mine-{at}")
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text(f"---\nname: mine-{at}\ndescription: Does {at}.\n---\nDo it.\n")
    assert cli("phase", "--agents", "AGENTS.md", "--write").code == 0
    listed = listing.listed_in((project / "AGENTS.md").read_text(encoding="utf-8"))
    assert listed == [f"mine-{at}" for at in range(len({its.skills for its in KNOWN.values()}))]
