"""The one supervisor of child processes. `Supervisor.start(ChildSpec(...))` returns a ready child or says why not."""

from mesh.process.spec import (
    Backoff,
    ChildEvent,
    ChildFailed,
    ChildSpec,
    ChildState,
    JsonLine,
    PortOpen,
    Probe,
    Started,
)
from mesh.process.supervisor import Child, Supervisor

__all__ = [
    "Backoff",
    "Child",
    "ChildEvent",
    "ChildFailed",
    "ChildSpec",
    "ChildState",
    "JsonLine",
    "PortOpen",
    "Probe",
    "Started",
    "Supervisor",
]
