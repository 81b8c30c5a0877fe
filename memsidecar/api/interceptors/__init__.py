"""What stands around every call, one concern a file.

An interceptor is given a method's name and what answers it, once, when the server is put together, and returns what
answers instead. So nothing is looked up or wrapped while calls come in.

Where somebody has to be guarded against, a call is given no request but what reads it: whoever is refused before that
makes us keep nothing of it. Else gRPC has read it already.
"""

from collections.abc import AsyncIterator, Awaitable, Callable

import grpc.aio

Context = grpc.aio.ServicerContext[bytes, bytes]
ReadRequest = Callable[[], Awaitable[bytes]]
Request = bytes | ReadRequest
UnaryHandler = Callable[[Request, Context], Awaitable[bytes]]
StreamHandler = Callable[[AsyncIterator[bytes], Context], AsyncIterator[bytes]]
