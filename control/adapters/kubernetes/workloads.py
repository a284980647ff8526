"""How many endpoints stand ready behind a subset? Pods and WorkloadEntries whose labels the service and the subset
choose.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from zlib import crc32

from control.adapters.kubernetes.api import Json
from control.adapters.kubernetes.informer import Informer
from control.adapters.kubernetes.routes import Held
from control.errors import NotFound
from mesh.istio.hosts import full_name

Labels = Mapping[str, str]
BUILD, TEMPLATE = "tidegate.dev/build", "pod-template-hash"
REVISIONS = (BUILD, TEMPLATE, "controller-revision-hash")
"""Labels that tell builds of a workload apart, the strongest first; the first one is for people to set."""


SIDECAR = "istio-proxy"
OVER = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class Serving:
    """A pod or WorkloadEntry: its labels, whether it takes requests, and which build it is ("workload@revision", empty
    where it carries no mark of one, or goes away).
    """

    labels: Labels
    ready: bool
    build: str = ""


def pod(item: Json) -> Serving:
    """A pod that is being deleted is ready no more, and its build is on its way out."""
    metadata, status = item["metadata"], item.get("status", {})
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in status.get("conditions") or ())
    labels = metadata.get("labels") or {}
    if "deletionTimestamp" in metadata or status.get("phase") in OVER:
        return Serving(labels, ready=False)
    revision = next((labels[name] for name in REVISIONS if name in labels), "") or _images(status)
    return Serving(labels, ready, f"{_workload(metadata, labels)}@{revision}" if revision else "")


def _workload(metadata: Json, labels: Labels) -> str:
    """Who makes the pod: the Deployment behind a ReplicaSet, else its owner, else nobody."""
    owner = next((each["name"] for each in metadata.get("ownerReferences") or () if each.get("controller")), "")
    return str(owner).removesuffix(f"-{labels.get(TEMPLATE)}")


def _images(status: Json) -> str:
    """The images that a pod without a template's mark runs, its sidecar aside, as one short digest."""
    found = status.get("containerStatuses") or ()
    images = sorted(str(each.get("imageID", "")) for each in found if each.get("name") != SIDECAR)
    return f"{crc32(' '.join(images).encode()):08x}" if images and all(images) else ""


def workload_entry(item: Json) -> Serving:
    """Without a health condition a WorkloadEntry is taken to be healthy, as Istio does."""
    conditions = item.get("status", {}).get("conditions") or ()
    healthy = [each["status"] == "True" for each in conditions if each.get("type") == "Healthy"]
    spec = item.get("spec", {})
    labels = spec.get("labels") or item["metadata"].get("labels") or {}
    revision = labels.get(BUILD, "")
    return Serving(labels, all(healthy), f"@{revision}" if revision else "")


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

    async def builds(self, namespace: str, host: str, subset: str) -> tuple[str, ...]:
        return tuple(sorted({each.build for each in self._behind(namespace, host, subset)} - {""}))

    def listen(self, rolled_out: Callable[[], None]) -> None:
        """`rolled_out` is told when a build comes that was not there: a rollout has begun somewhere."""
        known: set[tuple[str, str]] = set()

        def look(informer: Informer[Serving], key: tuple[str, str]) -> None:
            found = informer.objects.get(key)
            if found is None or not found.build or (key[0], found.build) in known:
                return
            known.add((key[0], found.build))
            rolled_out()

        for informer in self._serving:
            informer.listen(partial(look, informer))

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
