"""The page docs/api.md, made from the names of the package ``lockstep`` themselves."""

from __future__ import annotations

import enum
import inspect

import lockstep

_HEAD = """# What programs and graphs import

This page is made from the package `lockstep` itself; `make docs-check` checks that it is current. A graph may import
these objects from `skills.lib.workflow` ([how](authoring.md#9-what-to-import)). Each value has a default after `=`;
parameters behind `*` are given by name."""

# Every name of the package, by what it is for.
GROUPS = {
    "The graph": "Workflow StepDef Outcome StepContext register_workflow read_prompts Choice",
    "What a step demands": "Arg Field Artifact Command Confidence",
    "Sub-agents and people": "Dispatch AgentRole Person person",
    "Reviews": "review_loop Gate Check Severity ItemStatus QRStatus",
    "What holds on all paths": "Passes Before NeverEndsFailed",
    "Runs": "Runner CommandLine Request Response Refusal Peek Run load_workflow main",
    "The record of runs": "Ledger Event",
    "Conditions on tool calls": "Guard Policy compile_policy Allow Deny Look",
    "The command gateway": "Gateway GatewayResult safe_cli_executor safe_py_runner",
    "Tests": "every_transition every_walk any_of Agent Session",
    "Errors": "LockstepError UsageError RefusedError EnvironmentProblem LedgerError UnsealedWorkflow SkillError"
    " InvalidWorkflow HandlerError",
}


def reference() -> str:
    """The text of docs/api.md. Raises ValueError if a name stands in no group, or in two."""
    named = [name for names in GROUPS.values() for name in names.split()]
    if sorted(named) != sorted(lockstep.__all__):
        raise ValueError(f"docs/api_page.py: {sorted(set(named) ^ set(lockstep.__all__)) or 'a name stands twice'}")
    parts = [_HEAD]
    for title, names in GROUPS.items():
        found = [(name, getattr(lockstep, name)) for name in names.split()]
        rows = [f"| `{name}{_call(one)}` | {_said(one)} |" for name, one in found]
        parts.append("\n".join([f"## {title}\n", "| name | what it is |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _call(found: object) -> str:
    """The parameters of a class or function, without their types; a vocabulary and an error have none here."""
    assert callable(found)
    if isinstance(found, type) and issubclass(found, enum.Enum | str | Exception):
        return ""
    parts, by_name = [], False
    for spec in inspect.signature(found).parameters.values():
        if spec.kind is spec.KEYWORD_ONLY and not by_name:
            parts, by_name = [*parts, "*"], True
        stars = {spec.VAR_POSITIONAL: "*", spec.VAR_KEYWORD: "**"}.get(spec.kind, "")
        by_name = by_name or bool(stars)
        default = "" if spec.default is spec.empty else f"={_default(spec.default)}"
        parts.append(f"{stars}{spec.name}{default}")
    return f"({', '.join(parts)})".replace("|", "\\|")


def _default(value: object) -> str:
    return getattr(value, "__name__", "") or repr(value)


def _said(found: object) -> str:
    """The first sentence of its docstring, and the words of a vocabulary."""
    text = (inspect.getdoc(found) or "").split("\n\n")[0].replace("\n", " ").replace("``", "`").replace("|", "\\|")
    words = getattr(found, "__members__", None) or _words(found)
    return f"{text} {', '.join(f'`{word}`' for word in words)}." if words else text


def _words(found: object) -> list[str]:
    """The names of the fixed words of a vocabulary."""
    if not (isinstance(found, type) and issubclass(found, str)):
        return []
    return [name for name, value in vars(found).items() if name.isupper() and isinstance(value, str)]
