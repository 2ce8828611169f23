"""Writes what is generated in the documents: whole pages, tables, and the output of the commands that they show.

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

from transcript import TranscriptError, replay  # noqa: E402  both need the path set above

from skills.lib.runtime import loading  # noqa: E402
from skills.lib.workflow.core import Workflow  # noqa: E402

# The catalogue: every skill that there is to be, and what it is for.
CATALOGUE = {
    "problem-analysis": "finds the cause of a problem by rival hypotheses and evidence",
    "decision-critic": "tests one decision, to STAND, REVISE or ESCALATE",
    "codebase-analysis": "finds out how a codebase works, with a place for every claim",
    "leon-writing-style": "writes a text in the voice of a style profile",
    "planner": "plans a change and carries it out, with five review loops",
    "refactor": "finds what to refactor, in parallel dimensions, behind a review",
    "deepthink": "reasons about an open question, quick or in full",
    "solution-design": "designs a solution from seven perspectives",
    "incoherence": "finds and settles contradictions in a repository",
    "prompt-engineer": "improves prompts, in four scopes",
    "doc-sync": "brings documents and code together again",
}

Writer = Callable[[str], str]


def rules(_: str) -> str:
    """The reference of the validation rules, from their own files."""
    from skills.lib.workflow.validation.reference import reference

    return reference()


def commands(_: str) -> str:
    """The reference of the ``lockstep`` command, from its subcommands."""
    from skills.lib.commands.reference import reference

    return reference()


def grammar(_: str) -> str:
    """A copy of the grammar of printed documents."""
    return (ROOT / "skills/lib/workflow/formatters/lockstep.rng").read_text(encoding="utf-8")


def migration(page: str) -> str:
    """MIGRATION_STATUS.md: which skills of the catalogue are workflows, by looking at the tree."""
    there, rows = 0, []
    for name, purpose in CATALOGUE.items():
        found = workflows(name)
        there += bool(found)
        state = ", ".join(f"`{one.name}` ({len(one.steps)} steps)" for one in found) or "not yet"
        rows.append(f"| {name} | {purpose} | {state} |")
    head = f"{there} of {len(CATALOGUE)} skills are Workflows.\n\n| skill | purpose | Workflow |\n|---|---|---|\n"
    return section(page, "skills", head + "\n".join(rows))


def readme(page: str) -> str:
    """README.md: the table of the skills that there are, and the transcript."""
    rows = [
        f"| [{name}](skills/{name}/SKILL.md) | {len(one.steps)} | {shape(one)} | {purpose} |"
        for name, purpose in CATALOGUE.items()
        for one in workflows(name)
    ]
    table = "| skill | steps | shape | what it does |\n|---|---|---|---|\n" + "\n".join(rows)
    return replay(section(page, "skills", table))


PAGES: dict[str, Writer] = {
    "README.md": readme,
    "MIGRATION_STATUS.md": migration,
    "docs/architecture.md": replay,
    "docs/authoring.md": replay,
    "docs/cli.md": commands,
    "docs/lockstep.rng": grammar,
    "docs/protocol.md": replay,
    "docs/rules.md": rules,
    "skills/lib/workflow/README.md": replay,
}


def workflows(skill: str) -> list[Workflow]:
    """The workflows of a skill of this tree, the one named like it first; none where there is no such skill."""
    modules = sorted((ROOT / "skills" / skill).glob(f"scripts/**/*{loading.SUFFIX}"))
    found = [loading.load_workflow(str(module)) for module in modules]
    return sorted(found, key=lambda one: one.name != skill)


def shape(workflow: Workflow) -> str:
    """What kind of graph it is, in a few words."""
    parts = [f"{step.id} up to {step.max_iterations} times" for step in workflow.steps if step.max_iterations]
    parts += [f"{step.id} by sub-agents" for step in workflow.steps if type(step.handler).__name__ == "Dispatch"]
    return ", ".join(parts) or "a line"


def section(page: str, name: str, content: str) -> str:
    """The page with what stands between ``<!-- name -->`` and ``<!-- /name -->`` replaced; ValueError without them."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)", re.DOTALL)
    if not pattern.search(page):
        raise ValueError(f"there is no section {name}")
    return pattern.sub(lambda found: f"{found[1]}\n{content}\n{found[2]}", page)


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
    """Whether the page is as it should be; without ``check`` it is written where it is not."""
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
