"""Errors to gRPC statuses: the only place that aborts calls of our services, and that catches every exception."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import NoReturn

import grpc
import grpc.aio
from grpc_status import rpc_status

from memsidecar import logs
from memsidecar.api.interceptors.call import Context, Request, StreamHandler, UnaryHandler
from memsidecar.api.status import INTERNAL_ERROR, rich_status
from memsidecar.domain.errors import SidecarError

log = logging.getLogger(__name__)

MAX_STATUS_SECONDS = 60.0


def unary(method: str, handler: UnaryHandler) -> UnaryHandler:
    async def with_errors(request: Request, context: Context) -> bytes:
        try:
            return await handler(request, context)
        except SidecarError as error:
            raised = _without_frames(error)
        except grpc.aio.AbortError:
            raise
        except Exception as bug:  # noqa: BLE001  the border: the caller learns nothing about the internals
            _log_bug(method, bug)
            raised = INTERNAL_ERROR
        return await abort(context, raised)

    return with_errors


def stream(method: str, handler: StreamHandler) -> StreamHandler:
    async def with_errors(requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
        try:
            async for response in handler(requests, context):
                yield response
            return
        except SidecarError as error:
            raised = _without_frames(error)
        except grpc.aio.AbortError:
            raise
        except Exception as bug:  # noqa: BLE001  the border, as above
            _log_bug(method, bug)
            raised = INTERNAL_ERROR
        await abort(context, raised)

    return with_errors


async def abort(context: Context, error: SidecarError) -> NoReturn:
    """End the call with the status of the error.

    The status comes after all responses of the call. A client that does not read them has MAX_STATUS_SECONDS to begin
    to; then the call is cancelled.
    """
    status = rpc_status.to_status(rich_status(error))
    try:
        async with asyncio.timeout(MAX_STATUS_SECONDS):
            await context.abort(status.code, status.details, status.trailing_metadata)
    except (grpc.aio.InternalError, TimeoutError):
        # The client has cancelled the call meanwhile, or does not read.
        raise asyncio.CancelledError from None
    raise AssertionError("abort does not return")


def _without_frames(error: SidecarError) -> SidecarError:
    """Drop traceback and causes: gRPC keeps the error a call is aborted with, and its frames keep the request alive."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def _log_bug(method: str, bug: Exception) -> None:
    logs.event(log, logging.ERROR, "bug", exception=bug, method=method)
