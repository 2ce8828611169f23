"""Holds a run's model calls to the budgets in tokens and money of the run and of its user."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from skills.lib.agent.configuration.lockstep_toml import DEFAULT, user_file
from skills.lib.agent.money.pricing import Pricing, Usage
from skills.lib.agent.money.spending import Spending, Spent
from skills.lib.agent.runs import log
from skills.lib.errors import EnvironmentProblem, RefusedError
from skills.lib.model.texts import counted

if TYPE_CHECKING:
    from skills.lib.agent.configuration.lockstep_toml import Budgets, Configuration

# From this share of a budget on it is warned of.
WARNED = 0.8
# What each budget is of, in words.
_PERIODS = {"run": "in this run", "day": "since midnight (UTC)", "month": "since the month began (UTC)"}


class Budget:
    """What a run may still take: of its own budgets, its sub-agents' calls with it, and of its user's.

    ``note`` records a warning.
    """

    def __init__(
        self, configuration: Configuration, home: str, run: str, note: Callable[[Mapping[str, Any]], object]
    ) -> None:
        self._configuration = configuration
        self._budgets, self._pricing = configuration.budgets, Pricing(configuration.prices)
        self._root, self._note = run.partition(".")[0], note
        self._spending = Spending(home)
        self._begun: dict[int, int] = {}

    def why_not(self, model: str) -> str:
        """Why a call of a model is not made, and how to go on; "" if it may be."""
        why = unpriced(self._budgets, self._pricing, model)
        return f"{why[0].upper()}{why[1:]}. To go on, {_remedy(model)}." if why else ""

    def spent(self) -> str:
        """Which budget is spent, and when there is another one; "" if none is."""
        for name, used, limit in self._used():
            if used >= limit:
                return f"The budget {name} is spent: {_of(name, used, limit)}. {_goes_on(name, self._configuration)}"
        return ""

    def begin(self, call: int, model: str, tokens: int) -> None:
        """Count a model call that begins, by the estimate of what it sends."""
        usd = self._pricing.usd(model, Usage(input=tokens))
        self._counted(lambda: self._begun.__setitem__(call, self._spending.begin(self._root, model, tokens, usd)))

    def end(self, call: int, model: str, usage: Usage) -> float | None:
        """Count a model call that ended, warn of a budget that is nearly spent, and return what the call cost."""
        usd = self._pricing.usd(model, usage)
        number = self._begun.pop(call, None)
        if number is not None:
            self._counted(lambda: self._spending.end(number, usage.input + usage.output, usd))
            self._warn()
        return usd

    def fail(self, call: int, may_cost: bool) -> None:
        """Count a call without an answer as what was known of it if it ``may_cost``, else no longer."""
        number = self._begun.pop(call, None)
        if number is not None and not may_cost:
            self._counted(lambda: self._spending.release(number))

    def _warn(self) -> None:
        for name, used, limit in self._used():
            if WARNED <= used / limit < 1 and self._spending.is_first_warning(self._root, name, _since(name)):
                text = f"{100 * used / limit:.0f} % of the budget {name} are spent: {_of(name, used, limit)}"
                self._note({"budget": name, "used": used, "limit": limit, "text": text})

    def _used(self) -> list[tuple[str, float, float]]:
        """Each budget that is set, with what was used of it and its limit."""
        found: list[tuple[str, float, float]] = []
        spent: dict[float, Spent] = {}
        for name, limit in self._budgets.fields().items():
            unit, _, period = name.partition("_per_")
            if not isinstance(limit, (int, float)) or period == "hour":
                continue
            since = _since(name)
            if since not in spent:
                spent[since] = self._spending.since(since) if since else self._spending.of_run(self._root)
            found.append((name, spent[since].tokens if unit == "tokens" else spent[since].usd, limit))
        return found

    def _counted(self, count: Callable[[], object]) -> None:
        """Count something; if it cannot be counted and no budget needs it, the session goes on."""
        try:
            count()
        except EnvironmentProblem as error:
            if any(self._budgets.fields().values()):
                raise
            log.warning("%s", error.what)


def require_priced(configuration: Configuration, models: list[str]) -> None:
    """Raise RefusedError for a model of unknown price if a budget is in money."""
    for model in models:
        if why := unpriced(configuration.budgets, Pricing(configuration.prices), model):
            raise RefusedError(why, remedy=_remedy(model))


def require_unspent(configuration: Configuration, home: str, run: str) -> None:
    """Raise RefusedError if a budget of the user, of a day or a month, is spent."""
    if spent := Budget(configuration, home, run, lambda data: None).spent():
        raise RefusedError(f"No run was opened. {spent}")


def _remedy(model: str) -> str:
    return f'set [agent.prices."{model}"] input and output, in US dollars for a million tokens, in {user_file()}'


def unpriced(budgets: Budgets, pricing: Pricing, model: str) -> str:
    """Why a model is not used for want of its price; "" if it is."""
    bounding = [name for name, limit in budgets.fields().items() if name.startswith("usd_") and limit is not None]
    if not bounding or pricing.knows(model):
        return ""
    return f"the price of {model} is not known, and the budget {bounding[0]} is in money"


def require_start(configuration: Configuration, home: str, run: str, skill: str) -> None:
    """Count the opening of a run. Raises RefusedError if the user opened as many of the skill as an hour allows."""
    most = configuration.budgets.starts_per_hour
    if most is None:
        return
    opens = Spending(home).start(run, skill, most)
    if opens:
        raise RefusedError(
            f"{counted(most, 'run')} of {skill} {'was' if most == 1 else 'were'} opened within the last hour, which is "
            "all that starts_per_hour allows",
            valid=f"another one from {_clock(opens)} on",
            remedy="wait until then, or raise [agent.budgets] starts_per_hour in "
            + _file_of("starts_per_hour", configuration),
        )


def _since(name: str) -> float:
    """The beginning of the day or month (UTC) that a budget is for; 0 for one of a run."""
    now = datetime.datetime.fromtimestamp(time.time(), datetime.UTC)
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    found = {"day": day, "month": day.replace(day=1)}.get(name.partition("_per_")[2])
    return found.timestamp() if found else 0.0


def _of(name: str, used: float, limit: float) -> str:
    unit, _, period = name.partition("_per_")
    if unit == "tokens":
        return f"{used:,.0f} of {limit:,.0f} tokens {_PERIODS[period]}"
    return f"{dollars(used)} of {dollars(limit)} {_PERIODS[period]}"


def dollars(amount: float) -> str:
    """An amount in US dollars; more digits for a small one."""
    if amount == 0 or amount >= 0.1:
        return f"${amount:,.2f}"
    return f"${amount:.4f}" if amount >= 0.0001 else "less than $0.0001"


def _goes_on(name: str, configuration: Configuration) -> str:
    wait = {"day": "Wait until midnight (UTC), or raise", "month": "Wait for the next month, or raise"}
    return f"{wait.get(name.partition('_per_')[2], 'To go on, raise')} it in {_file_of(name, configuration)}."


def _file_of(name: str, configuration: Configuration) -> str:
    """The file that sets a budget, the user's or the project's; the user's if the program sets it."""
    places = [one.place for one in configuration.in_force if one.names == ("agent", "budgets", name)]
    if not places or places[0] == DEFAULT:
        return user_file()
    return places[0].rpartition(", ")[2].rpartition(":")[0]


def _clock(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at))
