"""The form of a plan: read strictly as JSON, held against the JSON Schema."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

from skills.lib.schema import violations

from .faults import Fault, PlanError, nearest

if TYPE_CHECKING:
    from skills.lib.schema import Violation

RESOURCES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "resources")
LIMIT = 10_000_000


def schema() -> dict[str, Any]:
    """The JSON Schema of a plan."""
    found: dict[str, Any] = json.loads(resource("plan.schema.json"))
    return found


def resource(name: str) -> str:
    """The text of a file in the skill's resources."""
    with open(os.path.join(RESOURCES, name), encoding="utf-8") as file:
        return file.read()


def parse(content: bytes, name: str) -> Any:
    """Read JSON; PlanError for what is not UTF-8, not JSON, or has a name twice in one object."""
    try:
        data = json.loads(content.decode("utf-8-sig"), object_pairs_hook=_once, parse_constant=_no_constant)
        canonical(data).encode()
    except RecursionError:
        raise PlanError(f"{name} is nested too deeply for a plan") from None
    except UnicodeDecodeError as error:
        raise PlanError(f"{name} is not UTF-8 text: byte {error.start} cannot be read") from None
    except UnicodeEncodeError:
        raise PlanError(f"{name} has half of a surrogate pair in a text; write the character itself") from None
    except ValueError as error:
        raise PlanError(f"{name} is not JSON: {error}") from None
    return data


def canonical(plan: Any) -> str:
    """One text for one content: sorted names, an indent of one."""
    return json.dumps(plan, ensure_ascii=False, indent=1, sort_keys=True)


def content_id(plan: Any) -> str:
    """16 hex digits that another content does not have."""
    return hashlib.sha256(canonical(plan).encode()).hexdigest()[:16]


def stored(plan: Any) -> bytes:
    """The bytes of a version: the names in the order that they were given in."""
    return (json.dumps(plan, ensure_ascii=False, indent=1) + "\n").encode()


def form_faults(plan: Any) -> list[Fault]:
    """Everything about a plan that the schema does not admit, in the plan's order."""
    found = sorted(violations(schema(), plan), key=lambda one: [_order(part) for part in one.path])
    return list(dict.fromkeys(_told(one) for one in found))


def pointer(*parts: object) -> str:
    """A JSON pointer."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def _told(one: Violation) -> Fault:
    if one.keyword == "additionalProperties":
        *place, name = one.path
        return Fault(pointer(*place), f"{name!r:.80} is not part of it", nearest(str(name), one.schema["properties"]))
    return Fault(pointer(*one.path), one.what, one.valid)


def _order(part: object) -> tuple[int, int, str]:
    return (0, part, "") if isinstance(part, int) else (1, 0, str(part))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice!r:.80} stands twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")
