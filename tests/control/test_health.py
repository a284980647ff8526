"""What probes are told: that the loop runs, and that the cluster is known."""

import asyncio
import contextlib
import urllib.error
import urllib.request

import pytest
from prometheus_client import CollectorRegistry, Counter, make_wsgi_app

from control.errors import StartFailed
from control.health import DEAD_AFTER_S, Health, serve, with_health


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("quiet_s", "missing", "alive", "ready"),
    [
        (0, "", (200, "alive"), (200, "alive")),
        (DEAD_AFTER_S, "", (200, "alive"), (200, "alive")),
        (DEAD_AFTER_S + 1, "", (503, "the loop has not run for 31 s"), (503, "the loop has not run for 31 s")),
        (0, "pods", (200, "alive"), (503, "waits for pods")),
    ],
)
def test_what_a_probe_is_told(quiet_s: float, missing: str, alive: object, ready: object) -> None:
    clock = Clock()
    health = Health(lambda: missing, clock)
    health.beat()
    clock.now += quiet_s
    assert (health.alive(), health.ready()) == (alive, ready)


async def test_a_running_loop_beats() -> None:
    clock = Clock()
    health = Health(time=clock)
    clock.now += 10 * DEAD_AFTER_S
    assert health.alive()[0] == 503
    beating = asyncio.ensure_future(health.run())
    await asyncio.sleep(0)
    assert health.alive()[0] == 200
    beating.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await beating


def asked(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_probes_and_metrics_share_a_port() -> None:
    registry = CollectorRegistry()
    Counter("looks", "Looks.", registry=registry).inc()
    where = serve(with_health(make_wsgi_app(registry), Health(lambda: "pods")), "127.0.0.1:0")
    assert asked(f"http://{where}/healthz") == (200, "alive\n")
    assert asked(f"http://{where}/readyz") == (503, "waits for pods\n")
    assert "looks_total 1.0" in asked(f"http://{where}/metrics")[1]
    with pytest.raises(StartFailed, match="be listened on"):
        serve(with_health(make_wsgi_app(registry), Health()), where)
