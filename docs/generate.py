"""Writes what is generated in the documents: whole pages, tables, a picture, and the output of shown commands.

``--check`` writes nothing, names what is stale, shows how it differs, and exits 1. Pages can be named; the default is
every one. A page that is not of this tree is taken as one whose commands are run.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import founding_pages  # noqa: E402  these need the path set above
import migration_status  # noqa: E402
import plugin_manifests  # noqa: E402
from recording import picture  # noqa: E402
from transcript import TranscriptError, replay  # noqa: E402

from skills.lib import paths  # noqa: E402
from skills.lib.runtime import loading  # noqa: E402
from skills.lib.skillfile.discovery import graphs_in  # noqa: E402
from skills.lib.workflow.core import Workflow  # noqa: E402
from skills.lib.workflow.types import Dispatch  # noqa: E402

Writer = Callable[[str], str]


def rules(_: str) -> str:
    """The reference of the validation rules, from their own files."""
    from rules_page import reference

    return reference()


def commands(_: str) -> str:
    """The reference of the ``lockstep`` command, from its subcommands."""
    from command_page import reference

    return reference()


def api(_: str) -> str:
    """The reference of the package ``lockstep``, from its names."""
    from api_page import reference

    return reference()


def grammar(_: str) -> str:
    """A copy of the grammar of printed documents."""
    return (ROOT / "skills/lib/blocks/lockstep.rng").read_text(encoding="utf-8")


def editor_schema(_: str) -> str:
    """The JSON Schema by which an editor checks a workflow.yaml."""
    import json

    from skills.lib.graphfile.schema import schema

    return json.dumps(schema(), indent=2) + "\n"


def migration(page: str) -> str:
    """MIGRATION_STATUS.md: what each skill of the catalogue has."""
    return section(page, "skills", migration_status.content())


def readme(page: str) -> str:
    """README.md: the table of the skills that there are, and the transcript."""
    rows = []
    for name, purpose in migration_status.CATALOGUE.items():
        own, handed_out = workflows(name)
        steps = ", ".join(str(len(one.steps)) for one in own)
        agents = ", ".join(str(len(one.steps)) for one in handed_out) or "-"
        gates = sum(step.gate is not None for one in own for step in one.steps) or "-"
        rows.append(f"| [{name}](skills/{name}/SKILL.md) | {purpose} | {steps} | {agents} | {gates} |")
    table = "| skill | what it does | steps | steps of sub-agents | review gates |\n|---|---|---|---|---|\n"
    return replay(section(page, "skills", table + "\n".join(rows)))


def operating(page: str) -> str:
    """docs/operating.md: the tables of the settings and of the models that aliases stand for."""
    from settings_page import aliases, settings

    return section(section(page, "settings", settings()), "aliases", aliases())


def section(text: str, name: str, content: str) -> str:
    """The text with new content between ``<!-- name -->`` and ``<!-- /name -->``; ValueError if they are missing."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)", re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"there is no section {name}")
    return pattern.sub(lambda found: f"{found[1]}\n{content}\n{found[2]}", text, count=1)


def packaged(text: str) -> Writer:
    """The writer of a file by which a host takes this repository as a plugin."""
    return lambda _: text


PAGES: dict[str, Writer] = {
    **{path: packaged(text) for path, text in plugin_manifests.files(str(ROOT)).items()},
    "README.md": readme,
    "MIGRATION_STATUS.md": migration,
    "docs/api.md": api,
    "docs/architecture.md": replay,
    "docs/adopting.md": replay,
    "docs/authoring.md": replay,
    "docs/cli.md": commands,
    **{
        f"{founding_pages.FOLDER}/{name}": lambda _, letter=letter: founding_pages.page(letter)
        for letter, (name, _, _) in founding_pages.PAGES.items()
    },
    "docs/hooks.md": replay,
    "docs/hosts/README.md": replay,
    "docs/lockstep.rng": grammar,
    "docs/migrating.md": replay,
    "docs/operating.md": operating,
    "docs/protocol.md": replay,
    "docs/refusal.svg": picture,
    "docs/rules.md": rules,
    "docs/workflow.schema.json": editor_schema,
    "skills/lib/workflow/README.md": replay,
}


def workflows(skill: str) -> tuple[list[Workflow], list[Workflow]]:
    """The workflows of a skill that an agent opens, the one named like it first; and those that are handed out."""
    scripts = ROOT / "skills" / skill / "scripts"
    modules = graphs_in(scripts.parent)
    found = {str(module.relative_to(scripts)): loading.load_workflow(str(module)) for module in modules}
    handlers = [step.handler for one in found.values() for step in one.steps]
    dispatched = {
        one.script.replace(".py", ending)
        for ending in (paths.MODULE, paths.COMPILED)
        for one in handlers
        if isinstance(one, Dispatch) and one.script
    }
    own = [one for path, one in found.items() if path not in dispatched]
    handed_out = [one for path, one in found.items() if path in dispatched]
    return sorted(own, key=lambda one: one.name != skill), handed_out


def main(argv: Sequence[str] | None = None) -> int:
    """Write or check the pages; the exit code is 1 where --check finds one stale or a page cannot be run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, and exit 1 where something is stale")
    parser.add_argument("page", nargs="*", default=list(PAGES), help="pages to write or check (default: all)")
    options = parser.parse_args(argv)
    stale = [page for page in options.page if not _settled(page, options.check)]
    if stale:
        sys.stderr.write("stale: " + ", ".join(stale) + "\n  try:  make docs\n")
    return 1 if stale else 0


def _settled(page: str, check: bool) -> bool:
    """True if the page is up to date; without ``check`` an outdated page is written anew."""
    path = ROOT / page
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    try:
        new = PAGES.get(page, replay)(old)
    except (TranscriptError, ValueError) as error:
        sys.stderr.write(f"{page}: {error}\n")
        return False
    if new == old:
        return True
    if check:
        shown = difflib.unified_diff(old.splitlines(True), new.splitlines(True), page, f"{page} as it should be", n=1)
        sys.stdout.writelines(shown)
        return False
    path.write_text(new, encoding="utf-8")
    sys.stdout.write(f"wrote {page}\n")
    return True


if __name__ == "__main__":
    # Validating a graph leaves a seal: not in the user's cache, for a check changes nothing.
    with tempfile.TemporaryDirectory(prefix="lockstep-docs-") as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        sys.exit(main())
