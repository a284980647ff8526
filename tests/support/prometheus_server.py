"""A real Prometheus on an address of its own, that can be stopped and started again on the same data."""

import asyncio
import contextlib
import json
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import aiohttp

from mesh.lease import lease
from tests.support.mesh_wait import until

INTERVAL = timedelta(milliseconds=250)


@dataclass(frozen=True)
class Target:
    """One page that is scraped: `address` is host:port; labels are added to all its series."""

    address: str
    path: str = "/metrics"
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass
class PrometheusProcess:
    """Its folder has configuration, data and log."""

    folder: Path
    address: str
    interval: timedelta = INTERVAL
    process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    def scrape(self, targets: Sequence[Target]) -> None:
        """What it scrapes; one that runs notices by itself."""
        groups = [
            {"targets": [each.address], "labels": {"__metrics_path__": each.path, **each.labels}} for each in targets
        ]
        fresh = self.folder / "targets.new"
        fresh.write_text(json.dumps(groups))
        fresh.rename(self.folder / "targets.json")

    async def start(self) -> None:
        """Starts it and waits until it is ready."""
        with (self.folder / "prometheus.log").open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                "prometheus",
                *(f"--config.file={self.folder / 'prometheus.json'}", f"--storage.tsdb.path={self.folder / 'data'}"),
                *(f"--web.listen-address={self.address}", "--log.level=warn"),
                stdout=log,
                stderr=log,
            )
        await until(self._ready, within_s=90, what="Prometheus is ready")

    async def stop(self) -> None:
        """Ends it as its service manager would."""
        if self.process is not None and self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
            await asyncio.wait_for(self.process.wait(), 60)

    def configure(self) -> None:
        """Makes the folder and its configuration."""
        self.folder.mkdir()
        interval = f"{round(self.interval / timedelta(milliseconds=1))}ms"
        targets = {"files": [str(self.folder / "targets.json")], "refresh_interval": "1s"}
        job = {"job_name": "proxies", "file_sd_configs": [targets]}
        whole = {"global": {"scrape_interval": interval, "scrape_timeout": interval}, "scrape_configs": [job]}
        (self.folder / "prometheus.json").write_text(json.dumps(whole))

    async def _ready(self) -> bool:
        assert self.process is None or self.process.returncode is None, (self.folder / "prometheus.log").read_text()
        with contextlib.suppress(aiohttp.ClientError):
            async with aiohttp.ClientSession() as session, session.get(f"{self.url}/-/ready") as response:
                return response.status == 200
        return False


@asynccontextmanager
async def prometheus(
    folder: Path, targets: Sequence[Target], *, interval: timedelta = INTERVAL
) -> AsyncIterator[PrometheusProcess]:
    """A running Prometheus that scrapes these targets; ended with the context."""
    with lease() as net:
        server = PrometheusProcess(folder, f"{net.address(3)}:9090", interval)
        server.configure()
        server.scrape(targets)
        try:
            await server.start()
            yield server
        finally:
            await server.stop()
