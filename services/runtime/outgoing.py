"""How does a service call another one?

Over one channel an address, through the sidecar's egress listener. Each call ends when the caller's own deadline ends,
or after the channel's limit if that comes first. Nothing of the request being served is copied into its metadata: the
attempt count belongs to one hop, and a stale one would lie to the next.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

import grpc
from grpc.aio import ClientCallDetails

from services.runtime.address import parse_address
from services.runtime.call import current_call

FORBIDDEN_PREFIXES = ("x-envoy-", "tidegate-")
MESSAGE_BYTES = 4 * 1024 * 1024


@dataclass(slots=True)
class DeadlineInterceptor(grpc.aio.UnaryUnaryClientInterceptor):  # type: ignore[type-arg]
    """Bounds each call by the caller's deadline and by `limit`, and keeps mesh headers out."""

    limit: timedelta

    async def intercept_unary_unary(
        self, continuation: Callable[[Any, Any], Any], client_call_details: Any, request: Any
    ) -> Any:
        """The call, bounded."""
        return await continuation(self._bounded(client_call_details), request)

    def _bounded(self, details: Any) -> ClientCallDetails:
        call = current_call()
        remaining = call.remaining_s() if call else None
        bounds = [b for b in (details.timeout, remaining, self.limit.total_seconds()) if b is not None]
        kept = [(key, value) for key, value in details.metadata or () if not key.startswith(FORBIDDEN_PREFIXES)]
        return ClientCallDetails(
            details.method, min(bounds), grpc.aio.Metadata(*kept), details.credentials, details.wait_for_ready
        )


def open_channel(address: str, *, limit: timedelta, authority: str | None = None) -> grpc.aio.Channel:
    """A channel to `address` (`host:port` or `unix:/path`). It connects with the first call.

    `authority` is the host that its calls name: a sidecar routes by it, whatever address the call came in on.
    Raises: ValueError when the address is neither.
    """
    return grpc.aio.insecure_channel(
        str(parse_address(address)),
        options=[
            ("grpc.max_receive_message_length", MESSAGE_BYTES),
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.min_reconnect_backoff_ms", 100),
            ("grpc.max_reconnect_backoff_ms", 1_000),
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.enable_http_proxy", 0),
            *([("grpc.default_authority", authority)] if authority else []),
        ],
        interceptors=[cast(Any, DeadlineInterceptor(limit))],
    )
