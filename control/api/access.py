"""Who may speak to the controller? Whoever is on this machine and shows the token of the state folder.

The token is a secret in a file that only its owner can read; it is compared in constant time. Addresses that are not
loopback are refused before anything listens: this API is not made for a network.
"""

import hmac
import ipaddress
import os
import secrets
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc

from control.errors import Refused

TOKEN_BYTES = 32


if TYPE_CHECKING:
    Interceptor = grpc.aio.ServerInterceptor[Any, Any]
else:
    Interceptor = grpc.aio.ServerInterceptor


class TokenInterceptor(Interceptor):
    """Refuses every call that does not carry `authorization: Bearer <token>`."""

    def __init__(self, token: str) -> None:
        self._expected = f"Bearer {token}".encode()

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """The call's own handler, or one that refuses."""
        shown = dict(handler_call_details.invocation_metadata or ()).get("authorization", "")
        text = shown if isinstance(shown, bytes) else str(shown).encode()
        handler = await continuation(handler_call_details)
        return handler if hmac.compare_digest(text, self._expected) else _refusing(handler)


def _refusing(handler: Any) -> Any:
    async def refuse(_request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        await context.abort(grpc.StatusCode.UNAUTHENTICATED, "the call carries no valid token")

    async def refuse_stream(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        await refuse(request, context)
        yield  # never reached: abort raises

    if handler is not None and handler.response_streaming:
        return grpc.unary_stream_rpc_method_handler(refuse_stream)
    return grpc.unary_unary_rpc_method_handler(refuse)


def loopback(address: str) -> str:
    """The address itself, if it is "host:port" on loopback. Raises Refused."""
    host, _, port = address.rpartition(":")
    hint = "listen on 127.0.0.1:0, or on another address of 127.0.0.0/8"
    try:
        fits = ipaddress.ip_address(host.strip("[]")).is_loopback and 0 <= int(port) <= 65535
    except ValueError:
        raise Refused(f"{address!r} is not an address and a port", hint=hint) from None
    if not fits:
        raise Refused(f"{address} is not a loopback address: the controller's API is not made for a network", hint=hint)
    return address


def read_token(path: Path) -> str:
    """The secret in a token file. Raises Refused when others can read it, or when it is empty or absent."""
    try:
        mode = path.stat().st_mode
        token = path.read_text().strip()
    except FileNotFoundError:
        raise Refused(f"there is no token file {path}", hint="`tidegate up` makes it") from None
    except OSError as error:
        raise Refused(f"the token file {path} can't be read: {error}") from error
    if stat.S_IMODE(mode) & 0o077:
        raise Refused(f"the token file {path} can be read by others", hint=f"chmod 600 {path}")
    if not token:
        raise Refused(f"the token file {path} is empty", hint="delete it: a new one is made at the next start")
    return token


def read_or_make_token(path: Path) -> str:
    """The secret in a token file, which is made (mode 0600) when it is absent. Raises Refused."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return read_token(path)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(TOKEN_BYTES) + "\n")
    return read_token(path)
