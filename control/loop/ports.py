"""Which ports does a tick use? All of them, in one value."""

from dataclasses import dataclass

from control.ports import Documents, Ledger, Metrics, Proxies, Store, Workloads


@dataclass(frozen=True, slots=True)
class Ports:
    """What reconcile needs of the world."""

    documents: Documents
    proxies: Proxies
    workloads: Workloads
    metrics: Metrics
    store: Store
    ledger: Ledger
