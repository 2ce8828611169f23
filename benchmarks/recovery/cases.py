"""The tasks of the recovery benchmark: each a SKILL.md with numbered calls, the files that it finds, and what it makes.

They were written after the policies. A case is done if the files that it names hold what they are to hold; what the
model says of it counts for nothing.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from langchain_core.tools import BaseTool, StructuredTool

# What a case checks if nothing else is said: what the last instruction writes.
OUT = "out.txt"
TOWNS = "name,town\nJosé,Köln\nZoë,Liège\n"
TABLE = "name,total\nsouth,12\nnorth,30\n"


class Case(NamedTuple):
    """One task. ``makes`` has what stands in which file at the end; ``flaky`` fails so often before it works.

    ``model_faults`` are raised by the model's provider, one by one, before it answers. A case that is not ``solvable``
    has things that can be done all the same: ``part`` is what stands in which file then.
    """

    name: str
    kind: str
    instructions: tuple[str, ...]
    files: Mapping[str, str | bytes] = {}
    makes: Mapping[str, str] = {}
    solvable: bool = True
    part: Mapping[str, str] = {}
    tools: tuple[Callable[[], BaseTool], ...] = ()
    model_faults: tuple[str, ...] = ()


class ProviderError(Exception):
    """What a provider's library raises: it is known by its name, its status and its words."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status_code = status
        self.body = {"error": {"message": words}}


MODEL_FAULTS = {
    "limit": (429, "rate limit reached for requests"),
    "overloaded": (529, "overloaded"),
    "server": (500, "internal error"),
    "unavailable": (503, "service unavailable"),
    "quota": (402, "no credit is left"),
    "key": (401, "invalid key"),
}


def flaky(name: str, answer: str, *failures: str) -> Callable[[], BaseTool]:
    """What makes a tool that fails with each of these texts once, and then answers."""

    def make() -> BaseTool:
        left = list(failures)

        def run(address: str) -> str:
            if left:
                raise ConnectionError(left.pop(0))
            return answer

        return StructuredTool.from_function(run, name=name, description=f"{name.capitalize()} what is at an address.")

    return make


def broken(name: str, failure: str) -> Callable[[], BaseTool]:
    """What makes a tool that always fails."""
    return flaky(name, "", *[failure] * 100)


def choosing(name: str, valid: str, answer: str, failure: str) -> Callable[[], BaseTool]:
    """What makes a tool that answers one address alone, and says of any other what the failure says."""

    def make() -> BaseTool:
        def run(address: str) -> str:
            if address != valid:
                raise ValueError(failure.format(address=address))
            return answer

        return StructuredTool.from_function(run, name=name, description=f"{name.capitalize()} what is at an address.")

    return make


def zipped(name: str, text: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(name, text)
    return data.getvalue()


def write(number: int, text: str = "", path: str = OUT) -> str:
    return f'Write it down: `write(path="{path}", content="{text or f"{{{number - 1}}}"}")`'


def read(path: str, has: str = "", **more: Any) -> str:
    arguments = "".join(f", {name}={value!r}" for name, value in more.items())
    return f'Read the data: `read(path="{path}"{arguments})`' + (f", whose result has `{has}`" if has else "")


def run(command: str, has: str = "", about: str = "Run it", **more: Any) -> str:
    arguments = "".join(f", {name}={value!r}" for name, value in more.items())
    return f"{about}: `shell(command={command!r}{arguments})`" + (f", whose result has `{has}`" if has else "")


def fetched(has: str = "") -> tuple[str, str]:
    see = f", whose result has `{has}`" if has else ""
    return f'Fetch the rates: `fetch(address="rates.example")`{see}', write(2)


def then(first: str, makes: str, **about: Any) -> dict[str, Any]:
    """One call, whose result is written down."""
    return {"instructions": (first, write(2)), "makes": {OUT: makes}, **about}
