"""A real istiod on loopback: the small cluster, as a person starts it, for whoever compares what it says with ours.

A cluster of its own: hundreds of namespaces are made in it, and nobody clears them.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from control.local.cluster.command import attached
from control.local.cluster.running import Cluster

WORDS = (sys.executable, "-P", "-m", "control.cli.main", "dev", "cluster")
STARTS_WITHIN_S, STOPS_WITHIN_S = 1800, 60


@dataclass(frozen=True, slots=True)
class Stack:
    """Where to put documents, and where to ask for what they mean."""

    api: str
    token: str
    ads: str
    debug: str


@contextmanager
def running() -> Iterator[Stack]:
    """The stack, up and answering; its processes end with the block."""
    with tempfile.TemporaryDirectory(prefix="tidegate-istiod-") as folder:
        place = ("--state-dir", folder)
        subprocess.run([*WORDS, "up", "--detach", *place], check=True, timeout=STARTS_WITHIN_S)
        try:
            yield stack_of(attached(Path(folder)))
        finally:
            subprocess.run([*WORDS, "down", *place], check=True, timeout=STOPS_WITHIN_S)


def stack_of(cluster: Cluster) -> Stack:
    """What of a cluster is asked."""
    place = cluster.places
    token = place.tokens.read_text(encoding="ascii").partition(",")[0]
    return Stack(f"https://{place.api_server}", token, place.istiod_xds, f"http://{place.istiod_monitoring}")
