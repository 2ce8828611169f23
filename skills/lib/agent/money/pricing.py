"""What a model call costs: by the user's own prices, else by those that the library genai-prices brings with it.

Nothing is asked of a network. A price that neither has is None, never 0.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING

from skills.lib.agent.models.aliases import provider_of
from skills.lib.record import Record

if TYPE_CHECKING:
    from skills.lib.agent.configuration.lockstep_toml import Price

# The providers that genai-prices calls otherwise than LangChain.
_PROVIDERS = {
    "azure_ai": "azure",
    "azure_openai": "azure",
    "bedrock": "aws",
    "bedrock_converse": "aws",
    "google_anthropic_vertex": "google",
    "google_genai": "google",
    "google_vertexai": "google",
    "mistralai": "mistral",
    "xai": "x-ai",
}


class Usage(Record):
    """The tokens of a model call: ``input`` are all that it read, of which so many came from or went to the cache."""

    input: int = 0
    output: int = 0
    cached: int = 0
    cache_written: int = 0

    def possible(self) -> Usage:
        """The same with no more tokens of the cache than were read."""
        cached = min(self.cached, self.input)
        return Usage(self.input, self.output, cached, min(self.cache_written, self.input - cached))


class Pricing:
    """The prices of models; ``own`` are the user's, by ``provider:name``."""

    def __init__(self, own: Mapping[str, Price]) -> None:
        self._own = dict(own)

    def knows(self, model: str) -> bool:
        """True if the price of a model is known."""
        return self.usd(model, Usage(input=1, output=1)) is not None

    def usd(self, model: str, usage: Usage, at: float | None = None) -> float | None:
        """What a call cost in US dollars; None if the price is unknown. ``at`` is seconds since the epoch."""
        usage = usage.possible()
        own = self._own.get(model)
        if own is not None:
            fresh = usage.input - usage.cached
            total = fresh * own.input + usage.cached * own.cached_input + usage.output * own.output
            return total / 1_000_000
        return _listed(model, usage, at)


def _listed(model: str, usage: Usage, at: float | None) -> float | None:
    provider = provider_of(model)
    if not provider:
        return None  # a name alone may be of a model that somebody serves under it
    try:
        import genai_prices  # of the extra; it takes longer than all else here

        found = genai_prices.calc_price(
            genai_prices.Usage(
                input_tokens=usage.input,
                output_tokens=usage.output,
                cache_read_tokens=usage.cached,
                cache_write_tokens=usage.cache_written,
            ),
            model.partition(":")[2],
            provider_id=_PROVIDERS.get(provider, provider),
            genai_request_timestamp=datetime.datetime.fromtimestamp(at, datetime.UTC) if at is not None else None,
        )
    except (ImportError, LookupError, ValueError):
        return None
    return float(found.total_price)
