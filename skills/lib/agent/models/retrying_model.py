"""A chat model that asks again: what another model of LangChain answers, whole, or one error in plain words."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.runnables.base import RunnableBinding
from pydantic import Field

from skills.lib.agent.models import answers
from skills.lib.agent.models.model_errors import Failure, NoAnswer
from skills.lib.agent.models.retries import NOTICED, Attempts, Retries

T = TypeVar("T")


class RetryingModel(BaseChatModel):
    """Asks ``inner``, again after failures that pass, and raises ModelError if there is no answer.

    A streamed answer is given on when it is whole, as one chunk: half of one cannot be taken back when it breaks off.
    A call that takes more than ``timeout`` seconds, or whose session was cancelled, is left to itself.
    """

    inner: BaseChatModel
    model_name: str
    key: str
    timeout: float
    streaming: bool = False
    retries: Retries = Field(exclude=True, repr=False)
    secrets: tuple[str, ...] = Field(exclude=True, repr=False)

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        bound = self.inner.bind_tools(tools, **kwargs)
        assert isinstance(bound, RunnableBinding)  # as every model of a provider returns
        return self.bind(**bound.kwargs)

    @property
    def _llm_type(self) -> str:
        return self.inner._llm_type

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return dict(self.inner._identifying_params)

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:
        return self.inner._get_ls_params(stop=stop, **kwargs)

    def get_num_tokens_from_messages(self, messages: list[BaseMessage], tools: Any = None) -> int:
        return self.inner.get_num_tokens_from_messages(messages, tools)

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        def ask() -> ChatResult:
            return answers.whole(self.inner._generate(messages, stop=stop, **kwargs))

        return answers.sound_result(self._answer(ask), messages)

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        async def ask() -> ChatResult:
            return answers.whole(await self.inner._agenerate(messages, stop=stop, **kwargs))

        return answers.sound_result(await self._aanswer(ask), messages)

    def _stream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        def ask() -> ChatGenerationChunk:
            gathered = answers.Gathered()
            for chunk in self.inner._stream(messages, stop=stop, **kwargs):
                gathered.add(chunk)
            return gathered.merged(self._says_its_end)

        yield answers.sound(self._answer(ask), messages)

    async def _astream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        async def ask() -> ChatGenerationChunk:
            gathered = answers.Gathered()
            async for chunk in self.inner._astream(messages, stop=stop, **kwargs):
                gathered.add(chunk)
            return gathered.merged(self._says_its_end)

        yield answers.sound(await self._aanswer(ask), messages)

    @property
    def _says_its_end(self) -> bool:
        """True for the protocols of which it is known that a whole stream says why it ended."""
        return self.model_name.startswith(("openai:", "anthropic:"))

    def _answer(self, ask: Callable[[], T]) -> T:
        """What ``ask`` returns, by as many tries as the budget has; raises ModelError."""
        attempts = Attempts(self.retries)
        while True:
            attempts.count += 1
            try:
                return self._in_time(ask)
            except Exception as error:
                failure = Failure.of(error)
            wait = attempts.pause(failure)
            if wait is None:
                raise self._error(failure, attempts)
            until = self.retries.clock() + wait
            while (left := until - self.retries.clock()) > 0 and not self.retries.is_cancelled():
                self.retries.sleep(min(left, NOTICED))

    async def _aanswer(self, ask: Callable[[], Awaitable[T]]) -> T:
        attempts = Attempts(self.retries)
        while True:
            attempts.count += 1
            try:
                return await self._ain_time(ask)
            except Exception as error:
                failure = Failure.of(error)
            wait = attempts.pause(failure)
            if wait is None:
                raise self._error(failure, attempts)
            until = self.retries.clock() + wait
            while (left := until - self.retries.clock()) > 0 and not self.retries.is_cancelled():
                await asyncio.to_thread(self.retries.sleep, min(left, NOTICED))

    def _in_time(self, ask: Callable[[], T]) -> T:
        """What ``ask`` returns, in a thread that is left behind if the time is over or the session was cancelled."""
        ended, results, errors = threading.Event(), list[T](), list[BaseException]()

        def run() -> None:
            try:
                results.append(ask())
            except BaseException as error:
                errors.append(error)
            ended.set()

        until = self._until()
        threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True, name="model").start()
        while not ended.wait(NOTICED):
            self._check(until)
        if errors:
            raise errors[0]
        return results[0]

    async def _ain_time(self, ask: Callable[[], Awaitable[T]]) -> T:
        until = self._until()
        task = asyncio.ensure_future(ask())
        try:
            while not (await asyncio.wait({task}, timeout=NOTICED))[0]:
                self._check(until)
            return task.result()
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=1)

    def _until(self) -> float:
        self._check(float("inf"))
        return self.retries.clock() + self.timeout

    def _check(self, until: float) -> None:
        """Raise if the session was cancelled, or the time is over."""
        if self.retries.is_cancelled():
            raise NoAnswer("cancelled")
        if self.retries.clock() > until:
            raise NoAnswer("timeout", f"more than {self.timeout:g} s")

    def _error(self, failure: Failure, attempts: Attempts) -> Exception:
        return failure.error(self.model_name, self.key, attempts.count, attempts.seconds, self.secrets)
