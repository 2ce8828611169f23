"""Chat models by ``provider:name``, from the environment, or as an object of LangChain.

A provider's library retries by itself, and whoever calls it may too: three by three tries are nine. Here one place
retries, ``RetryingModel``, and the libraries of OpenAI and Anthropic are told not to. They know neither the budget of
the session nor that it was cancelled, sleep where nothing can wake them, and do not retry an answer that breaks off
once it has begun. Importing this module loads nothing of LangChain.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from skills.lib.agent.configuration.configured_keys import ALIASES
from skills.lib.agent.models.model_errors import Failure, ModelError, masked
from skills.lib.agent.models.retries import Retries
from skills.lib.errors import EnvironmentProblem, UsageError, did_you_mean, nearest
from skills.lib.record import Record

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from skills.lib.agent.models.retrying_model import RetryingModel

__all__ = [
    "ModelError",
    "Retries",
    "cancellable",
    "chat_model",
    "failure",
    "is_own_endpoint",
    "may_cost",
    "name_of",
    "probable_provider",
    "provider_with_key",
]

MODEL, BASE_URL = "LOCKSTEP_MODEL", "LOCKSTEP_BASE_URL"
# Seconds for one whole answer: that of a model that thinks for long may take minutes.
TIMEOUT = 600.0
# The providers of the chat models of LangChain that programs make themselves, by the name of the class.
_CLASSES = {"ChatOpenAI": "openai", "ChatAnthropic": "anthropic", "ChatGoogleGenerativeAI": "google_genai"}
_EXTRA = "pip install '/path/to/lockstep[agent]'"
_PACKAGES = ("langchain", "langchain_anthropic", "langchain_core", "langchain_openai")
_EXAMPLE = "provider:name, as openai:gpt-5.2 or anthropic:claude-sonnet-5"
# What a local endpoint is sent that asks for no key.
_NO_KEY = "none"


class Provider(Record):
    """A protocol that Lockstep speaks, and the variables of its key and its base URL, the first first."""

    keys: tuple[str, ...]
    urls: tuple[str, ...]
    home: str


PROVIDERS = {
    "openai": Provider(("OPENAI_API_KEY",), ("OPENAI_API_BASE", "OPENAI_BASE_URL"), "api.openai.com"),
    "anthropic": Provider(("ANTHROPIC_API_KEY",), ("ANTHROPIC_API_URL", "ANTHROPIC_BASE_URL"), "api.anthropic.com"),
}


def chat_model(
    model: BaseChatModel | str | None = None,
    base_url: str = "",
    timeout: float = TIMEOUT,
    retries: Retries = Retries(),  # noqa: B008  frozen
    streaming: bool = False,
) -> BaseChatModel:
    """The chat model of a name, with retries; a model of LangChain is returned as it is.

    Without a name, LOCKSTEP_MODEL. ``base_url`` is an endpoint that speaks the provider's protocol; without it,
    LOCKSTEP_BASE_URL (unless LOCKSTEP_MODEL is of another provider), then the provider's own variable. ``timeout`` is
    in seconds, for one whole answer. ``streaming`` asks for it in pieces, for endpoints behind a proxy that closes a
    connection on which nothing comes for a while. Raises UsageError for a name or key that is missing or wrong,
    EnvironmentProblem if a library is not installed. The model raises ModelError, and nothing else, without an answer.
    """
    if model is not None and not isinstance(model, str):
        return _checked(model)
    name = model or os.environ.get(MODEL, "")
    if not name:
        raise UsageError("no model is set", valid=_EXAMPLE, remedy=f"set {MODEL}, or give --model")
    provider, _, rest = name.partition(":")
    provider = provider.strip().lower().replace("-", "_")
    if not rest.strip():
        prefix = probable_provider(name)
        near = f"{prefix}:{name}" if prefix else nearest(name, ALIASES)
        valid = f"{', '.join(ALIASES[:3])}, or {_EXAMPLE}"
        raise UsageError(f"{name!r} names no provider{did_you_mean(near)}", valid=valid)
    if provider in PROVIDERS:
        made = _of_protocol(provider, rest.strip(), _url(provider, base_url), timeout, retries)
    else:
        made = _of_langchain(provider, rest.strip(), base_url, timeout, retries)
    return made.model_copy(update={"streaming": True}) if streaming else made


def cancellable(model: BaseChatModel, is_cancelled: Callable[[], bool]) -> BaseChatModel:
    """The same model, which waits for nothing any more once the session was cancelled; another's model as it is."""
    from skills.lib.agent.models.retrying_model import RetryingModel

    if not isinstance(model, RetryingModel):
        return model
    fields: dict[str, Any] = {**model.retries.fields(), "is_cancelled": is_cancelled}
    return model.model_copy(update={"retries": Retries(**fields)})


def failure(error: Exception) -> ModelError | None:
    """The error in plain words, if a model raised it: one of ``chat_model``, or another of LangChain."""
    from langchain_core import exceptions

    if isinstance(error, exceptions.ModelError):
        return Failure.of(error).error("the model", "the variable of its key", 1, 0, ())
    return error if isinstance(error, ModelError) else None


def name_of(model: Any) -> str:
    """The name under which a call of a chat model is recorded: ``provider:name`` if its provider is known."""
    name = str(getattr(model, "model_name", None) or getattr(model, "model", None) or type(model).__name__)
    provider = _CLASSES.get(type(model).__name__, "")
    return f"{provider}:{name}" if provider and ":" not in name else name


def probable_provider(name: str) -> str:
    """The provider of a model that is named without one; "" if it cannot be told."""
    if name.startswith(("gpt", "o1", "o3", "chatgpt")):
        return "openai"
    return "anthropic" if "claude" in name else ""


def provider_with_key() -> str:
    """The first provider whose key the environment has; "" if there is none."""
    return next((name for name, one in PROVIDERS.items() if any(os.environ.get(key) for key in one.keys)), "")


def is_own_endpoint(provider: str, base_url: str) -> bool:
    """True if calls of a provider go to another endpoint than its own, which has models of its own."""
    url = _url(provider, base_url) if provider in PROVIDERS else base_url
    return bool(url) and (provider not in PROVIDERS or urlsplit(url).hostname != PROVIDERS[provider].home)


def may_cost(error: BaseException) -> bool:
    """True if a provider may take money for a call that ended so: it may have begun to answer."""
    return (error.kind if isinstance(error, ModelError) else "") in ("timeout", "cut-off", "cancelled", "")


def _checked(model: Any) -> BaseChatModel:
    _require()
    from langchain_core.language_models import BaseChatModel

    if not isinstance(model, BaseChatModel):
        raise UsageError(f"{type(model).__name__} is no chat model of LangChain", valid=f"one, or {_EXAMPLE}")
    return model


def _of_protocol(provider: str, name: str, url: str, timeout: float, retries: Retries) -> RetryingModel:
    """A model of a provider that Lockstep's tests know by its protocol."""
    _require()
    from pydantic import SecretStr

    variable, key = _key(provider, url)
    own = bool(url) and urlsplit(url).hostname != PROVIDERS[provider].home
    if provider == "openai":
        from langchain_openai import ChatOpenAI

        # Other endpoints speak chat completions alone, whatever the model is called.
        api: dict[str, Any] = {"use_responses_api": False} if own else {}
        inner: Any = ChatOpenAI(
            model=name,
            base_url=url or None,
            api_key=SecretStr(key),
            timeout=timeout,
            max_retries=0,
            stream_usage=True,
            **api,
        )
    else:
        from langchain_anthropic import ChatAnthropic

        inner = ChatAnthropic(
            model_name=name,
            base_url=url.removesuffix("/v1") or None,
            api_key=SecretStr(key),
            timeout=timeout,
            max_retries=0,
            stop=None,
        )
    return _retrying(inner, f"{provider}:{name}", variable, timeout, retries, (key, urlsplit(url).password or ""))


def _of_langchain(provider: str, name: str, url: str, timeout: float, retries: Retries) -> RetryingModel:
    """A model of another provider, if LangChain knows it and its package is installed."""
    _require()
    from langchain.chat_models import base, init_chat_model

    known = sorted({*PROVIDERS, *getattr(base, "_BUILTIN_PROVIDERS", ())})
    if provider not in known:
        raise UsageError(
            f"there is no provider {provider!r:.60}{did_you_mean(nearest(provider, known))}",
            valid=", ".join(known),
            remedy=f"an endpoint that speaks a known protocol: openai:NAME and {BASE_URL}",
        )
    try:
        own: dict[str, Any] = {"base_url": url} if url else {}
        inner = init_chat_model(name, model_provider=provider, **own)
    except ImportError as error:
        package = (error.name or f"langchain_{provider}").partition(".")[0].replace("_", "-")
        raise EnvironmentProblem(f"the provider {provider} needs a package", remedy=f"pip install {package}") from error
    except Exception as error:
        raise UsageError(f"{provider}:{name} cannot be made: {masked(str(error))}") from None
    return _retrying(inner, f"{provider}:{name}", f"the key of {provider}", timeout, retries, ())


def _retrying(
    inner: BaseChatModel, name: str, variable: str, timeout: float, retries: Retries, secrets: tuple[str, ...]
) -> RetryingModel:
    from skills.lib.agent.models.retrying_model import RetryingModel

    kept = tuple(secret for secret in secrets if secret not in ("", _NO_KEY))
    return RetryingModel(
        inner=inner,
        model_name=name,
        key=variable,
        timeout=timeout,
        retries=retries,
        secrets=kept,
        profile=inner.profile,
    )


def _require() -> None:
    """Raise EnvironmentProblem if the extra is not installed."""
    absent = [name for name in _PACKAGES if find_spec(name) is None]
    if absent:
        raise EnvironmentProblem(
            f"a model needs the extra [agent], which is not installed for {sys.executable} ({', '.join(absent)})",
            remedy=_EXTRA,
        )


def _url(provider: str, base_url: str) -> str:
    """The base URL that is in force; empty for the provider's own."""
    own, _, _ = os.environ.get(MODEL, "").partition(":")
    general = os.environ.get(BASE_URL, "") if own.strip().lower() in ("", provider) else ""
    found = [("the base URL", base_url), (BASE_URL, general)]
    found += [(variable, os.environ.get(variable, "")) for variable in PROVIDERS[provider].urls]
    source, url = next(((source, url.strip()) for source, url in found if url.strip()), ("", ""))
    try:
        parts = urlsplit(url)
        valid = not url or (parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0)
    except ValueError:
        valid = False
    if not valid:
        raise UsageError(f"{source} is no address: {url!r:.80}", valid="http://127.0.0.1:8000/v1, https://HOST/v1")
    return url.rstrip("/")


def _key(provider: str, url: str) -> tuple[str, str]:
    """The variable of the provider's key, and the key; an endpoint of one's own may want none."""
    variables = PROVIDERS[provider].keys
    for variable in variables:
        key = os.environ.get(variable, "").strip()
        if key and not (key.isascii() and key.isprintable()):
            raise UsageError(f"{variable} holds characters that no key has", remedy=f"set {variable} again")
        if key:
            return variable, key
    if url and urlsplit(url).hostname != PROVIDERS[provider].home:
        return variables[0], _NO_KEY
    raise UsageError(
        f"{provider} needs a key, and {variables[0]} is not set",
        remedy=f"set {variables[0]}; or {BASE_URL}, for an endpoint of your own",
    )
