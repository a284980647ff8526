"""How does one tick of one shift go? Being written; the signatures stand."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from control.ports import Documents, Metrics, Proxies, Store, Workloads


@dataclass(frozen=True, slots=True)
class Ports:
    """What reconcile needs of the world."""

    documents: Documents
    proxies: Proxies
    workloads: Workloads
    metrics: Metrics
    store: Store


@dataclass(frozen=True, slots=True)
class Outcome:
    """When to come back, and whether anything changed that people may want to see. `gone`: the shift no longer
    exists.
    """

    next_tick: timedelta
    changed: bool
    gone: bool = False


async def reconcile(ports: Ports, key: tuple[str, str], now: datetime) -> Outcome:
    """One tick of the shift `key` (namespace, name). Raises: InvariantBroken."""
    raise NotImplementedError
