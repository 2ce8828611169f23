"""The workflow of a run as it was opened: with the core skills beneath it, which the run's definition has."""

from __future__ import annotations

from skills.lib.model.layers import Layer, layered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.ledger import Ledger
    from skills.lib.model.run import Run
    from skills.lib.model.steps import Workflow


def as_opened(workflow: Workflow, run: Run, ledger: Ledger) -> Workflow:
    """The workflow of a run's script with the layers of the run, if it has any."""
    given = ledger.exact_definition(run.fingerprint).get("layers", ())
    layers = [Layer(**{name: value for name, value in one.items() if name != "$kind"}) for one in given]
    return layered(workflow, layers) if layers else workflow
