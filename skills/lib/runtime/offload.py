"""Moves values that are too long for a block to files beside the ledger, which the block then names."""

from __future__ import annotations

import os

from skills.lib import compact_json, files, paths
from skills.lib.blocks import document, done, parts
from skills.lib.errors import EnvironmentProblem
from skills.lib.model import texts
from skills.lib.model.texts import WORTH_A_FILE, present
from skills.lib.model.types import Element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skills.lib.model.run import Run
    from skills.lib.model.steps import Workflow
    from skills.lib.runtime.project import Response


# How many characters of an offloaded value the block keeps; of one that is hardly longer than that, the second.
EXCERPT, SHORT_EXCERPT = 400, 80
# How many characters of findings the block keeps if nothing else is left to offload: the first of these that fits.
OF_A_REVIEW = (6_000, 4_000, 2_500, 1_200, 400)
# How many characters each finding keeps at least.
OF_A_FINDING = 60


def shortened(response: Response, text: str, home: str) -> str:
    """The text of a response whose block is too long, with as few values as possible in files in the ledger's folder.

    The longest value goes first. A parameter of the run counts half: it says what the run is for. Findings of a review
    stay. Only if no other value is left, each finding is cut to its beginning, and a file has all of them.
    """
    workflow, run = response.workflow, response.run
    assert workflow is not None
    assert run is not None
    left_out = _left_out(response.element)
    every = [one for one in _shown_values(workflow, run) if ".".join(filter(None, one[1:3])) not in left_out]
    found = [one for one in every if len(one[3]) > WORTH_A_FILE]
    others = [one for one in found if not parts.is_of_review(one[0])]
    offloaded: dict[str, tuple[str, str]] = {}  # by the key of a value: its file, and what the block says of it

    def rendered() -> str:
        return document.render(workflow, _replaced(response.element, iter([one[0] for one in every]), offloaded))

    for key, _, _, value in sorted(others, key=lambda one: -len(one[3]) * (2 if one[1] else 1)):
        if len(text) <= parts.BLOCK_LIMIT:
            return text
        excerpt = value[: EXCERPT if len(value) > EXCERPT + 200 else SHORT_EXCERPT]
        offloaded[key] = _kept(home, run, key, value, excerpt)
        text = rendered()
    reviews = [one for one in found if parts.is_of_review(one[0])]
    for limit in OF_A_REVIEW if reviews else ():
        if len(text) <= parts.BLOCK_LIMIT:
            return text
        for key, _, _, value in reviews:
            offloaded[key] = _kept(home, run, key, value, _each_cut(value, limit // len(reviews)))
        text = rendered()
    return text


def _replaced(element: Element, keys: Iterator[str], offloaded: Mapping[str, tuple[str, str]]) -> Element:
    """The element with excerpts in place of the offloaded values; ``keys`` are those of its values, in their order."""
    if element.tag == "value":
        file, text = offloaded.get(next(keys), ("", ""))
        return Element("value", {**element.attributes, "file": file}, text) if file else element
    inside = [_replaced(child, keys, offloaded) if isinstance(child, Element) else child for child in element.children]
    return Element(element.tag, element.attributes, *inside, prose=element.prose)


def _left_out(element: Element) -> list[str]:
    """The names of the values that a brief block leaves out."""
    first = element.children[0]
    names = [first.attributes.get(part) or "" for part in ("context", "result")] if isinstance(first, Element) else []
    return " ".join(map(str, names)).split()


def _each_cut(value: str, limit: int) -> str:
    """The beginning of each entry of a list; the last entries are left out if there is no room for them."""
    entries = value.split("\n- ")
    share = max(OF_A_FINDING, limit // len(entries))
    found = [texts.shortened(entry, share) for entry in entries]
    return "\n- ".join(found[: max(1, limit // share)])


def _kept(home: str, run: Run, key: str, value: str, excerpt: str) -> tuple[str, str]:
    """Write a value to its file, and return the path, and the excerpt that speaks of it."""
    path = write(home, run, file_name(run, key), value)
    return path, f"{excerpt} … ({len(value):,} characters; read the file for all of it)"


def file_name(run: Run, key: str) -> str:
    """The name of the file of a value that the run's present block offloads."""
    is_plain = key.replace("-", "").replace("_", "").replace(".", "").isalnum() and key.isascii() and len(key) < 100
    return f"{run.turn}-{key if is_plain else compact_json.digest(key)}.txt"


def write(home: str, run: Run, name: str, text: str) -> str:
    """Write one of the files of a run into the ledger's folder, whole or not at all, and return its path.

    Raises EnvironmentProblem if it cannot be written, or a link is in the place of a folder on the way.
    """
    link = paths.link_in(home, paths.CONTEXT, run.id)
    if link:
        raise EnvironmentProblem(
            f"{link} is a link, which may lead out of the project",
            remedy="remove it, or set LOCKSTEP_HOME to a folder of your own",
        )
    if os.path.basename(name) != name:
        raise EnvironmentProblem(f"{name!r:.200} is no name of a file", remedy="lockstep doctor")
    path = os.path.join(home, paths.CONTEXT, run.id, name)
    try:
        files.write(path, text.encode())
    except OSError as error:
        raise EnvironmentProblem(
            f"{path} cannot be written: {error.strerror}", remedy="set LOCKSTEP_HOME to a folder that can be written"
        ) from error
    return path


def _shown_values(workflow: Workflow, run: Run) -> list[tuple[str, str, str, str]]:
    """The values that the run's present block shows, in their order there, also at its end."""
    if run.ended:
        last = run.last.get("step", "")
        values = done.result_values(workflow, run, last)
        return [(f"{last}.{name}", last, name, present(value)) for name, value in values]
    return parts.context_values(workflow, run, workflow.step(run.step or ""))
