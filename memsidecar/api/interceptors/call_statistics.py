"""Statistics of calls: durations and errors by method, counted where every outcome of a call passes."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping

from memsidecar.api.interceptors.call import Context, Request, StreamHandler, UnaryHandler
from memsidecar.api.status import CallFailure, failure_of
from memsidecar.domain.statistics import CALL_SECONDS, Distribution


class MethodStatistics:
    """Durations of one method's calls, failed ones included, and its errors by status and reason.

    The event loop writes. Any thread may read.
    """

    __slots__ = ("_errors", "seconds")

    def __init__(self) -> None:
        self.seconds = Distribution(CALL_SECONDS)
        self._errors: Counter[CallFailure] = Counter()

    def failed(self, error: BaseException, start: float) -> None:
        self.seconds.observe(time.perf_counter() - start)
        self._errors[failure_of(error)] += 1

    def errors(self) -> Mapping[CallFailure, int]:
        """Return the number of failed calls by status and reason."""
        return dict(self._errors)


class CallStatistics:
    """Interceptor that counts the calls of each method, by gRPC and by HTTP together. A stream is one call."""

    def __init__(self, *, is_enabled: bool) -> None:
        self._is_enabled = is_enabled
        self._methods: dict[str, MethodStatistics] = {}

    @property
    def methods(self) -> Mapping[str, MethodStatistics]:
        """The statistics by full name of the method. All methods are known before the first call."""
        return self._methods

    def unary(self, method: str, handler: UnaryHandler) -> UnaryHandler:
        if not self._is_enabled:
            return handler
        statistics = self._methods.setdefault(method, MethodStatistics())
        observe, clock = statistics.seconds.observe, time.perf_counter

        async def counted(request: Request, context: Context) -> bytes:
            start = clock()
            try:
                response = await handler(request, context)
            except (Exception, asyncio.CancelledError) as error:
                statistics.failed(error, start)
                raise
            observe(clock() - start)
            return response

        return counted

    def stream(self, method: str, handler: StreamHandler) -> StreamHandler:
        if not self._is_enabled:
            return handler
        statistics = self._methods.setdefault(method, MethodStatistics())

        async def counted(requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
            start = time.perf_counter()
            try:
                async for response in handler(requests, context):
                    yield response
            except (Exception, asyncio.CancelledError, GeneratorExit) as error:
                statistics.failed(error, start)
                raise
            statistics.seconds.observe(time.perf_counter() - start)

        return counted
