"""What is a child process, and when does it count as ready?

Values only. A child is described once, as a `ChildSpec`; every restart starts the same description again.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from signal import SIGKILL, Signals
from typing import Any


@dataclass(frozen=True, slots=True)
class Started:
    """Ready as soon as it runs."""


@dataclass(frozen=True, slots=True)
class JsonLine:
    """Ready when a line of stdout is a JSON object with `"ready": true`; the object is the child's ready value."""


@dataclass(frozen=True, slots=True)
class PortOpen:
    """Ready when a TCP connection to `host:port` is accepted."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Probe:
    """Ready when the awaitable returns (the ready value). It may wait for ever: death and deadline end it."""

    wait: Callable[[], Awaitable[Any]]


Ready = Started | JsonLine | PortOpen | Probe


@dataclass(frozen=True, slots=True)
class Backoff:
    """Delay before a restart: `first`, doubled up to `most`; a life longer than `forgiven_after` resets it."""

    first: timedelta = timedelta(milliseconds=100)
    most: timedelta = timedelta(seconds=5)
    forgiven_after: timedelta = timedelta(seconds=10)

    def delay(self, failures: int) -> timedelta:
        """The wait after the n-th death in a row (1 is the first)."""
        doublings: int = 2 ** min(failures - 1, 16)
        return min(self.most, self.first * doublings)


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """One child process.

    `command[0]` is looked up in PATH unless it has a slash. stdout and stderr go to `<log_dir>/<name>.out.log` and
    `.err.log`. `restart` None means that a death is final. `install_hint` is the line a person types when the program
    is missing. `orphan_signal` is what the kernel sends the child when its parent dies without stopping it.
    """

    name: str
    command: tuple[str, ...]
    log_dir: Path
    ready: Ready = field(default_factory=Started)
    ready_within: timedelta = timedelta(seconds=20)
    stop_within: timedelta = timedelta(seconds=5)
    restart: Backoff | None = field(default_factory=Backoff)
    env: Mapping[str, str] | None = None
    cwd: Path | None = None
    install_hint: str = ""
    orphan_signal: Signals = SIGKILL

    @property
    def out_log(self) -> Path:
        return self.log_dir / f"{self.name}.out.log"

    @property
    def err_log(self) -> Path:
        return self.log_dir / f"{self.name}.err.log"


class ChildState(StrEnum):
    """Where a child is in its life."""

    STARTING = "starting"
    READY = "ready"
    WAITING = "waiting"  # dead, its restart is due after the back-off
    STOPPED = "stopped"
    DEAD = "dead"  # dead for good: no restart wanted


@dataclass(frozen=True, slots=True)
class ChildEvent:
    """Something happened to a child. `sentence` says it for a person, with the last lines of stderr after a death."""

    child: str
    state: ChildState
    incarnation: int
    sentence: str


class ChildFailed(Exception):
    """A child could not be started: the program is missing, it died, or it was not ready in time."""

    def __init__(self, child: str, sentence: str, hint: str = "") -> None:
        super().__init__(f"{child}: {sentence}" + (f" ({hint})" if hint else ""))
        self.child = child
        self.sentence = sentence
        self.hint = hint
