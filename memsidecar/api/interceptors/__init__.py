"""What stands around every call, one concern a file.

An interceptor is given a method's name and what answers it, once, when the server is put together, and returns what
answers instead. So nothing is looked up or wrapped while calls come in.
"""

from collections.abc import AsyncIterator, Awaitable, Callable

import grpc.aio

Context = grpc.aio.ServicerContext[bytes, bytes]
Unary = Callable[[bytes, Context], Awaitable[bytes]]
Stream = Callable[[AsyncIterator[bytes], Context], AsyncIterator[bytes]]
