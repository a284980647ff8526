"""Is the controller alive, and does it know the cluster yet? What a kubelet asks, answered beside the metrics."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable
from http import HTTPStatus
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from control.errors import StartFailed

BEAT_S, DEAD_AFTER_S = 1.0, 30.0
App = Callable[[dict[str, Any], Any], Iterable[bytes]]
"""A WSGI application."""


def _nothing() -> str:
    return ""


class Health:
    """A pulse of the event loop. `waits_for` says what is not known yet, nothing when all is.

    Units: `time` is seconds of a monotonic clock.
    """

    def __init__(self, waits_for: Callable[[], str] = _nothing, time: Callable[[], float] = time.monotonic) -> None:
        self._waits_for = waits_for
        self._time = time
        self._beaten = time()

    async def run(self) -> None:
        """Beats until cancelled."""
        while True:
            self.beat()
            await asyncio.sleep(BEAT_S)

    def beat(self) -> None:
        self._beaten = self._time()

    def alive(self) -> tuple[HTTPStatus, str]:
        """For a liveness probe: a loop that hangs is started anew."""
        quiet_s = self._time() - self._beaten
        if quiet_s > DEAD_AFTER_S:
            return HTTPStatus.SERVICE_UNAVAILABLE, f"the loop has not run for {quiet_s:.0f} s"
        return HTTPStatus.OK, "alive"

    def ready(self) -> tuple[HTTPStatus, str]:
        """For a readiness probe: it watches all that it must know, whether it leads or waits for its turn."""
        missing = self._waits_for()
        return (HTTPStatus.SERVICE_UNAVAILABLE, f"waits for {missing}") if missing else self.alive()


def with_health(metrics: App, health: Health) -> App:
    """Answers /healthz and /readyz; everything else is the metrics'."""
    probes = {"/healthz": health.alive, "/readyz": health.ready}

    def app(asked: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        probe = probes.get(asked.get("PATH_INFO", ""))
        if probe is None:
            return metrics(asked, start_response)
        status, text = probe()
        start_response(f"{status.value} {status.phrase}", [("Content-Type", "text/plain; charset=utf-8")])
        return [f"{text}\n".encode()]

    return app


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: ARG002
        return None


def serve(app: App, address: str) -> str:
    """Serves at host:port until the process ends; says where. Raises StartFailed when the port is taken."""
    host, _, port = address.rpartition(":")
    try:
        server = make_server(host, int(port), app, _Server, _Quiet)
    except OSError as error:
        raise StartFailed(f"{address} can't be listened on: {error}", hint="is the port taken?") from error
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"{host}:{server.server_port}"
