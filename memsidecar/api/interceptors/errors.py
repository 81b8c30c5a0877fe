"""The one place where errors become statuses, and the one that catches everything."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import NoReturn

import grpc
import grpc.aio
from grpc_status import rpc_status

from memsidecar import logs
from memsidecar.api.interceptors import Context, Request, StreamHandler, UnaryHandler
from memsidecar.api.status import INTERNAL_ERROR, rich_status
from memsidecar.domain.errors import SidecarError

log = logging.getLogger(__name__)


def unary(method: str, answer: UnaryHandler) -> UnaryHandler:
    async def with_errors(asked: Request, context: Context) -> bytes:
        try:
            return await answer(asked, context)
        except SidecarError as error:
            told = _alone(error)
        except grpc.aio.AbortError:
            raise
        except Exception as bug:  # noqa: BLE001  the border: whatever it is, the caller learns nothing of the inside
            _report(method, bug)
            told = INTERNAL_ERROR
        return await abort(context, told)

    return with_errors


def stream(method: str, answer: StreamHandler) -> StreamHandler:
    async def with_errors(requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
        try:
            async for one in answer(requests, context):
                yield one
            return
        except SidecarError as error:
            told = _alone(error)
        except grpc.aio.AbortError:
            raise
        except Exception as bug:  # noqa: BLE001  the border, as above
            _report(method, bug)
            told = INTERNAL_ERROR
        await abort(context, told)

    return with_errors


def _alone(error: SidecarError) -> SidecarError:
    """Without the frames it came through: gRPC keeps what a call is aborted with, and they keep the whole request."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def _report(method: str, bug: Exception) -> None:
    logs.event(log, logging.ERROR, "bug", exception=bug, method=method)


async def abort(context: Context, error: SidecarError) -> NoReturn:
    status = rpc_status.to_status(rich_status(error))
    try:
        await context.abort(status.code, status.details, status.trailing_metadata)
    except grpc.aio.InternalError:
        # The caller has gone meanwhile: nobody is left to be told.
        raise asyncio.CancelledError from None
    raise AssertionError("abort does not return")
