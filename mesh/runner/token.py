"""Who may use the mesh's API? Whoever can read the token file: mode 0600, so only its owner."""

import hmac
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

Continuation = Callable[[grpc.HandlerCallDetails], Awaitable["grpc.RpcMethodHandler[Any, Any]"]]


class BadToken(Exception):
    """The token file can't be used."""


def read_or_make(file: Path) -> str:
    """The token in the file; a new one is made when there is none. Raises BadToken."""
    if not file.exists():
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.touch(mode=0o600, exist_ok=False)
        file.write_text(secrets.token_urlsafe(32) + "\n")
    if file.stat().st_mode & 0o077:
        raise BadToken(f"{file} can be read by others; do: chmod 600 {file}")
    token = file.read_text().strip()
    if not token:
        raise BadToken(f"{file} is empty; remove it and a new one is made")
    return token


class TokenRequired(grpc.aio.ServerInterceptor):  # type: ignore[type-arg]  # only the stubs are generic
    """Refuses calls without `authorization: Bearer <token>`."""

    def __init__(self, token: str) -> None:
        self._expected = f"Bearer {token}".encode()

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> "grpc.RpcMethodHandler[Any, Any]":
        given = dict(handler_call_details.invocation_metadata or ()).get("authorization", "")
        handler = await continuation(handler_call_details)
        if handler is None or hmac.compare_digest(str(given).encode(), self._expected):
            return handler
        return refusal(handler)


async def refuse(_: object, context: Any) -> None:
    await context.abort(grpc.StatusCode.UNAUTHENTICATED, "this mesh wants the token in its token file")


def refusal(handler: "grpc.RpcMethodHandler[Any, Any]") -> "grpc.RpcMethodHandler[Any, Any]":
    """A handler of the same shape that refuses."""
    if handler.response_streaming:
        return grpc.unary_stream_rpc_method_handler(refuse)
    return grpc.unary_unary_rpc_method_handler(refuse)
