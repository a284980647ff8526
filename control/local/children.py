"""Which processes make up the laptop's mesh, and with which arguments does each start?"""

import asyncio
import contextlib
import shutil
import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from control.local.layout import VERSIONS, Layout, Workload
from mesh.lease import run_folder
from mesh.process import ChildSpec, JsonLine, Probe

LANGUAGES = {"v1": "base", "v2": "extended"}
WARM = ("en-es", "es-en", "fr-es", "es-fr")
"""Pairs that both versions open at start, so that no caller of the new one pays for it and makes it look slow."""
READY_WITHIN = timedelta(seconds=60)
LOOK_EVERY_S = 0.02
REDIS_PACKAGE = "sudo apt-get install -y redis-server"


@dataclass(frozen=True, slots=True)
class Options:
    """What a person may choose. `faults` are fault knobs by version of the translator ("errors:0.3:UNAVAILABLE")."""

    allow_faults: bool = False
    faults: tuple[tuple[str, str], ...] = ()


def workloads(layout: Layout, options: Options) -> list[ChildSpec]:
    """The processes that serve requests."""
    return [
        *(_translator(layout, version, options) for version in VERSIONS),
        _service(layout, layout.detector(), (), ()),
        _service(layout, layout.cache(), _redis_options(layout), ()),
    ]


def redis(layout: Layout) -> ChildSpec | None:
    """The second level of the cache; None when there is no redis-server (the first level goes on alone)."""
    if shutil.which("redis-server") is None:
        return None
    socket = redis_socket(layout)
    socket.unlink(missing_ok=True)
    settings = {
        "--port": "0",
        "--unixsocket": str(socket),
        "--unixsocketperm": "700",
        "--save": "",
        "--appendonly": "no",
    }
    memory = {"--maxmemory": "128mb", "--maxmemory-policy": "allkeys-lru"}
    words = [word for pair in (settings | memory).items() for word in pair]
    return ChildSpec(
        "redis",
        ("redis-server", *words),
        layout.logs,
        ready=Probe(lambda: _answers(socket)),
        install_hint=REDIS_PACKAGE,
        cwd=layout.state_dir,
    )


def mesh_runner(layout: Layout) -> ChildSpec:
    """The process that owns the documents and the Envoys."""
    arguments = ("--net", layout.net, "--api", layout.mesh_api, "--token-file", str(layout.token_file))
    log_dir = ("--log-dir", str(layout.logs))
    return _python("mesh", "mesh.run", layout, (str(layout.documents), *arguments, *log_dir))


def controller(layout: Layout) -> ChildSpec:
    """The process that moves the weights."""
    arguments = ("--state-dir", str(layout.state_dir), "--listen", layout.control, "--mesh", layout.mesh_api)
    files = ("--token-file", str(layout.token_file), "--metrics", layout.control_metrics)
    return _python("controller", "control.main", layout, (*arguments, *files))


def redis_socket(layout: Layout) -> Path:
    """In the short run folder: a path of a unix socket has at most 107 characters."""
    return run_folder() / f"redis-{layout.net}.sock"


def _redis_options(layout: Layout) -> tuple[str, ...]:
    return ("--redis", f"unix://{redis_socket(layout)}") if shutil.which("redis-server") else ()


def _translator(layout: Layout, version: str, options: Options) -> ChildSpec:
    calls = ("--detector", layout.sidecar_to_detector(version), "--cache", layout.sidecar_to_cache(version))
    faults = [word for target, fault in options.faults if target == version for word in ("--fault", fault)]
    warm = [word for pair in WARM for word in ("--warm", pair)]
    allowed = ("--allow-faults",) if options.allow_faults or faults else ()
    own = (*calls, "--languages", LANGUAGES[version], *warm)
    return _service(layout, layout.translator(version), own, (*allowed, *faults))


def _service(layout: Layout, workload: Workload, own: tuple[str, ...], faults: tuple[str, ...]) -> ChildSpec:
    common = ("--listen", workload.listen, "--metrics", workload.metrics, "--version-label", workload.version)
    return _python(workload.name, f"services.{workload.service}", layout, (*common, *own, *faults))


def python_module(module: str) -> tuple[str, ...]:
    """How one of our modules is started. `-P`: never with what happens to lie in the current folder."""
    return (sys.executable, "-P", "-m", module)


def _python(name: str, module: str, layout: Layout, arguments: tuple[str, ...]) -> ChildSpec:
    command = (*python_module(module), *arguments)
    return ChildSpec(name, command, layout.logs, ready=JsonLine(), ready_within=READY_WITHIN)


async def _answers(socket: Path) -> None:
    """Returns when a connection to the unix socket is accepted."""
    while True:
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_unix_connection(socket)
            writer.close()
            return
        await asyncio.sleep(LOOK_EVERY_S)
