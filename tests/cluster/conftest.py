"""One small cluster for all tests that are marked `cluster`."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from control.local.cluster.command import attached
from control.local.cluster.running import Cluster
from tests.support.cluster_story import Scene, scene

WITHIN_S = 1800


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A running cluster, started as a person starts one."""
    folder = tmp_path_factory.mktemp("cluster")
    words = ("-P", "-m", "control.cli.main", "dev", "cluster")
    subprocess.run([sys.executable, *words, "up", "--detach", "--state-dir", str(folder)], check=True, timeout=WITHIN_S)
    try:
        yield attached(folder)
    finally:
        subprocess.run([sys.executable, *words, "down", "--state-dir", str(folder)], check=True, timeout=60)


@pytest_asyncio.fixture
async def stage(cluster: Cluster, tmp_path: Path) -> AsyncIterator[Scene]:
    async with scene(cluster, tmp_path) as made:
        yield made
    await asyncio.sleep(0)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kept_stage(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    """The stage of a whole module of stories: Envoys and Prometheus start once."""
    async with scene(cluster, tmp_path_factory.mktemp("stage")) as made:
        yield made
    await asyncio.sleep(0)


@pytest_asyncio.fixture(loop_scope="module")
async def shared(kept_stage: Scene) -> AsyncIterator[Scene]:
    """That stage for one story; cleared after it."""
    try:
        yield kept_stage
    finally:
        await kept_stage.clear()
