"""How does a service process live: start, serve, drain, end?

start   bind (a taken port is an error, never shared), open the service, health SERVING, the ready line on stdout
serve   every call through `CallInterceptor`
drain   SIGTERM or SIGINT: health NOT_SERVING, a moment in which calls are still taken, then no new ones, and
        running ones get the grace; a second signal ends the wait
"""

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import grpc
from grpc_health.v1 import health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from services.runtime.address import Address, TcpAddress
from services.runtime.health import Health
from services.runtime.interceptor import CallInterceptor
from services.runtime.logs import open_log
from services.runtime.metrics import FAULTS, INFO, Meter, open_metrics
from services.runtime.options import ServiceOptions
from services.runtime.outgoing import MESSAGE_BYTES, open_channel
from services.runtime.sabotage import Saboteur, run_process_faults

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger


class StartError(Exception):
    """The process cannot start; the sentence says what to change."""


@dataclass(frozen=True, slots=True)
class Binding:
    """One gRPC service: its full name, and the generated function that adds its servicer to a server."""

    service_name: str
    add: Callable[[grpc.aio.Server], None]


@dataclass(frozen=True, slots=True)
class Runtime:
    """What the harness gives to a service."""

    name: str
    options: ServiceOptions
    meter: Meter
    log: "FilteringBoundLogger"
    _closing: contextlib.AsyncExitStack

    def channel(self, address: str, *, limit: timedelta, authority: str | None = None) -> grpc.aio.Channel:
        """A channel to another service (`authority`: its host in the mesh), closed when the process ends."""
        channel = open_channel(address, limit=limit, authority=authority)
        self._closing.push_async_callback(channel.close, None)
        return channel


OpenService = Callable[[Runtime], AbstractAsyncContextManager[Sequence[Binding]]]


@dataclass(frozen=True, slots=True)
class Serving:
    """A service that answers: where, and the switch that starts its drain."""

    listen: Address
    metrics: TcpAddress | None
    drain: asyncio.Event

    def ready_line(self) -> str:
        """One line of JSON for whoever started the process."""
        metrics = None if self.metrics is None else str(self.metrics)
        return json.dumps({"ready": True, "listen": str(self.listen), "metrics": metrics})


def run_service(name: str, options: ServiceOptions, open_service: OpenService) -> None:
    """Runs the service until a signal drains it, then returns. Ends the process with status 1 if it cannot start."""
    import uvloop

    try:
        uvloop.run(_until_signalled(name, options, open_service))
    except StartError as error:
        print(f"{name}: {error}", file=sys.stderr)
        raise SystemExit(1) from None


async def _until_signalled(name: str, options: ServiceOptions, open_service: OpenService) -> None:
    async with serving(name, options, open_service) as service:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, service.drain.set)
        print(service.ready_line(), flush=True)
        await service.drain.wait()


@contextlib.asynccontextmanager
async def serving(name: str, options: ServiceOptions, open_service: OpenService) -> AsyncIterator[Serving]:
    """The service, answering inside the block; leaving the block drains it.

    Raises: StartError when a port is taken.
    """
    async with contextlib.AsyncExitStack() as closing:
        log = open_log(options.log_level, service=name, version=options.version_label)
        runtime = Runtime(name, options, Meter(), log, closing)
        runtime.meter[INFO].labels(name, options.version_label).set(1)
        metrics = _metrics(runtime, closing)
        bindings = await closing.enter_async_context(open_service(runtime))
        server = _server(runtime, [b.service_name for b in bindings])
        health = _add_services(server, bindings)
        listen = _bind(server, options.listen)
        await server.start()
        drain = asyncio.Event()
        closing.push_async_callback(_drain, server, health, options)
        await _arm(server, options, closing)
        log.info("serving", listen=str(listen), metrics=str(metrics))
        yield Serving(listen, metrics, drain)


def _metrics(runtime: Runtime, closing: contextlib.AsyncExitStack) -> TcpAddress | None:
    wanted = runtime.options.metrics
    if wanted is None:
        return None
    try:
        endpoint = open_metrics(runtime.meter, wanted)
    except OSError as error:
        raise StartError(f"cannot serve metrics on {wanted}: {error.strerror}; choose another --metrics") from error
    closing.callback(endpoint.close)
    return endpoint.address


def _server(runtime: Runtime, service_names: Sequence[str]) -> grpc.aio.Server:
    options, faults = runtime.options, runtime.meter[FAULTS]
    saboteur = Saboteur(options.allow_faults, options.faults, counted=lambda kind: faults.labels(kind).inc())
    interceptor = CallInterceptor(frozenset(service_names), options.version_label, runtime.meter, runtime.log, saboteur)
    return grpc.aio.server(
        interceptors=[interceptor],
        maximum_concurrent_rpcs=options.max_in_flight,
        options=[
            ("grpc.so_reuseport", 0),
            ("grpc.max_receive_message_length", MESSAGE_BYTES),
            ("grpc.max_send_message_length", MESSAGE_BYTES),
        ],
    )


def _add_services(server: grpc.aio.Server, bindings: Sequence[Binding]) -> Health:
    names = [binding.service_name for binding in bindings]
    health = Health(names)
    for binding in bindings:
        binding.add(server)
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    reflection.enable_server_reflection((*names, "grpc.health.v1.Health", reflection.SERVICE_NAME), server)
    return health


def _bind(server: grpc.aio.Server, wanted: Address) -> Address:
    try:
        port = server.add_insecure_port(str(wanted))
    except RuntimeError as error:
        raise StartError(f"cannot listen on {wanted}; is the port taken? Choose another --listen") from error
    return TcpAddress(wanted.host, port) if isinstance(wanted, TcpAddress) else wanted


async def _arm(server: grpc.aio.Server, options: ServiceOptions, closing: contextlib.AsyncExitStack) -> None:
    async def close_port() -> None:
        await server.stop(None)

    task = asyncio.create_task(run_process_faults(options.faults, close_port))
    closing.callback(task.cancel)
    await asyncio.sleep(0)


async def _drain(server: grpc.aio.Server, health: Health, options: ServiceOptions) -> None:
    await health.enter_graceful_shutdown()
    await asyncio.sleep(options.drain_delay.total_seconds())
    health.end_watches()
    await server.stop(options.grace.total_seconds())
