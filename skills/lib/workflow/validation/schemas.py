"""What is wrong with a JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def schema_fault(schema: Mapping[str, Any]) -> str:
    """Why nothing can be checked against the schema, with the path to the fault; empty for a good one."""
    try:
        from jsonschema import Draft202012Validator, SchemaError
    except ModuleNotFoundError:
        return ""
    try:
        Draft202012Validator.check_schema(dict(schema), format_checker=Draft202012Validator.FORMAT_CHECKER)
    except SchemaError as error:
        return f"at {error.json_path}: {error.message:.300}"
    except Exception as error:
        return f"{type(error).__name__}: {error!s:.300}"
    return next((f"it refers to {one}, which it does not have" for one in _dangling(schema)), "")


def _dangling(schema: Mapping[str, Any]) -> Iterator[str]:
    """The references within the schema that lead nowhere; one to a document elsewhere is never fetched."""
    for reference in _references(schema):
        if not reference.startswith("#"):
            yield reference
        elif reference.startswith("#/"):
            part: Any = schema
            for escaped in reference[2:].split("/"):
                name = escaped.replace("~1", "/").replace("~0", "~")
                at = int(name) if isinstance(part, list) and name.isdecimal() else name
                try:
                    part = part[at]
                except (KeyError, IndexError, TypeError):
                    yield reference
                    break


def _references(value: Any) -> Iterator[str]:
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, Mapping):
            if isinstance(part.get("$ref"), str):
                yield part["$ref"]
            stack.extend(part.values())
        elif isinstance(part, (list, tuple)):
            stack.extend(part)
