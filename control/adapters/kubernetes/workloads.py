"""How many endpoints stand ready behind a subset? Pods and WorkloadEntries whose labels the service and the subset
choose.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from control.adapters.kubernetes.api import Json
from control.adapters.kubernetes.informer import Informer
from control.adapters.kubernetes.routes import Held
from control.errors import NotFound
from mesh.istio.hosts import full_name

Labels = Mapping[str, str]
REVISIONS = ("pod-template-hash", "controller-revision-hash")


@dataclass(frozen=True, slots=True)
class Serving:
    """A pod or WorkloadEntry: its labels, whether it takes requests, and which build of its template it is."""

    labels: Labels
    ready: bool
    revision: str = ""


def pod(item: Json) -> Serving:
    """A pod that is being deleted is ready no more."""
    metadata, status = item["metadata"], item.get("status", {})
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in status.get("conditions") or ())
    labels = metadata.get("labels") or {}
    revision = next((labels[name] for name in REVISIONS if name in labels), "")
    return Serving(labels, ready and "deletionTimestamp" not in metadata, revision)


def workload_entry(item: Json) -> Serving:
    """Without a health condition a WorkloadEntry is taken to be healthy, as Istio does."""
    conditions = item.get("status", {}).get("conditions") or ()
    healthy = [each["status"] == "True" for each in conditions if each.get("type") == "Healthy"]
    spec = item.get("spec", {})
    labels = spec.get("labels") or item["metadata"].get("labels") or {}
    return Serving(labels, all(healthy), labels.get("revision", ""))


def selector(item: Json) -> Labels:
    """Which pods a Service chooses."""
    found: Labels = item.get("spec", {}).get("selector") or {}
    return found


class ClusterWorkloads:
    """The Workloads port."""

    def __init__(
        self,
        services: Informer[Labels],
        entries: Informer[Held],
        rules: Informer[Held],
        pods: Informer[Serving],
        workload_entries: Informer[Serving],
    ) -> None:
        self._services = services
        self._entries = entries
        self._rules = rules
        self._serving = (pods, workload_entries)

    async def ready_endpoints(self, namespace: str, host: str, subset: str) -> int:
        return sum(each.ready for each in self._behind(namespace, host, subset))

    def revisions(self, namespace: str, host: str, subset: str) -> frozenset[str]:
        """The builds that stand behind a subset, those aside that carry no mark of one."""
        return frozenset(each.revision for each in self._behind(namespace, host, subset) if each.revision)

    def _behind(self, namespace: str, host: str, subset: str) -> Iterator[Serving]:
        fqdn = full_name(host, namespace)
        wanted = {**self._chosen(fqdn), **self._subset(namespace, fqdn, subset)}
        home = fqdn.split(".")[1] if fqdn.endswith(".svc.cluster.local") else namespace
        for informer in self._serving:
            for (of, _), each in informer.all().items():
                if of == home and wanted.items() <= each.labels.items():
                    yield each

    def _chosen(self, fqdn: str) -> Labels:
        """The labels that the service itself chooses. Raises NotFound."""
        name, _, rest = fqdn.partition(".")
        chosen = self._services.get(rest.partition(".")[0], name)
        if chosen:
            return chosen
        for each in self._entries.all().values():
            if fqdn in each.spec.get("hosts", ()):
                found: Labels = each.spec.get("workloadSelector", {}).get("labels", {})
                return found
        raise NotFound(f"nothing serves {fqdn}", hint="a Service with a selector, or a ServiceEntry with one")

    def _subset(self, namespace: str, fqdn: str, subset: str) -> Labels:
        """Raises NotFound when no DestinationRule declares it."""
        found = {each["name"]: each.get("labels") or {} for each in self._subsets(namespace, fqdn)}
        if subset not in found:
            hint = f"it has {', '.join(found)}" if found else "no DestinationRule of the host declares any"
            raise NotFound(f"{fqdn} has no subset {subset}", hint=hint)
        return found[subset]

    def _subsets(self, namespace: str, fqdn: str) -> Iterable[Json]:
        """Those of the rules in the shift's and in the host's namespace."""
        for (of, _), each in sorted(self._rules.all().items()):
            host = each.spec.get("host", "")
            if of in (namespace, fqdn.split(".")[1]) and full_name(host, of) == fqdn:
                yield from each.spec.get("subsets", ())
