"""The policy that a workflow names: the file is beside its script, and it is a policy."""

from __future__ import annotations

import os
from collections.abc import Iterator

from skills.lib import files
from skills.lib.errors import EnvironmentProblem, did_you_mean, nearest
from skills.lib.guard.faults import PolicyError
from skills.lib.guard.policy import compile_policy
from skills.lib.validation.rule import SOURCE, Problem, rule
from skills.lib.validation.view import GraphView

_LONGEST = 1_000_000
_WHY = "while a run is open, the hook denies every tool but those that read, search and ask"


@rule("error", SOURCE, of_step=False, stops=True)
def unusable_policy(graph: GraphView) -> Iterator[Problem]:
    """The policy of a workflow is missing, or is no policy.

    ## What it does
    Reports a workflow whose `policy` is no file beside the script, or holds no policy. `lockstep policy check` says what
    a policy that can be used should have, too.

    ## Why it is bad
    A policy is never passed over: while a run is open, the hook denies every tool but those that read, search and ask.

    ## Example
    ```python
    # beside this file stands policy.yaml
    WORKFLOW = Workflow("tea", StepDef("boil", "Boil water", next={Outcome.OK: None}), policy="polcy.yaml")
    ```

    ## Use instead
    ```python
    # beside this file stands policy.yaml
    WORKFLOW = Workflow("tea", StepDef("boil", "Boil water", next={Outcome.OK: None}), policy="policy.yaml")
    ```
    """
    name = graph.workflow.policy
    if not name:
        return
    path = os.path.join(os.path.dirname(os.path.abspath(graph.file)), name)
    try:
        compile_policy(files.read(path, _LONGEST).decode(), path)
    except FileNotFoundError:
        near = nearest(name, [one for one in os.listdir(os.path.dirname(path)) if one.endswith((".yaml", ".yml"))])
        do = f"name {near}" if near else "write the policy, or leave policy out"
        yield Problem(f"the policy {name} does not exist{did_you_mean(near)}", why=_WHY, do=do)
    except PolicyError as error:
        what = f"the policy {name} is none: {error.what.removeprefix(path).lstrip(':0123456789 ')}"
        do = error.remedy or (f"valid: {error.valid}" if error.valid else f"lockstep policy check {name}")
        yield Problem(what, why=_WHY, do=do, file=path, line=error.line or 1)
    except EnvironmentProblem:
        return  # without a YAML library nothing can be said of it
    except (OSError, ValueError) as error:
        yield Problem(f"the policy {name} cannot be read: {error}", why=_WHY, do="make it a text file")
