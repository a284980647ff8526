"""What must the controller be allowed, and a person? The same as mesh/manifests/kubernetes/base/rights.yaml says."""

from dataclasses import dataclass

ISTIO, OURS = "networking.istio.io", "tidegate.dev"


@dataclass(frozen=True, slots=True)
class Right:
    """A verb on a resource (with its subresource). `place` says which namespace: shifts, own, istio, or cluster."""

    verb: str
    group: str
    resource: str
    place: str = "shifts"
    name: str = ""

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}"


NEEDED: tuple[Right, ...] = (
    *(Right(verb, OURS, "trafficshifts") for verb in ("get", "list", "watch", "patch")),
    Right("patch", OURS, "trafficshifts/status"),
    *(Right(verb, ISTIO, "virtualservices") for verb in ("get", "list", "watch", "patch")),
    *(Right("watch", ISTIO, kind) for kind in ("destinationrules", "serviceentries", "workloadentries")),
    Right("watch", "", "pods"),
    Right("watch", "", "services"),
    Right("create", "events.k8s.io", "events"),
    Right("create", "coordination.k8s.io", "leases", "own"),
    Right("update", "coordination.k8s.io", "leases", "own", "tidegate"),
    Right("list", "discovery.k8s.io", "endpointslices", "istio"),
    Right("get", "admissionregistration.k8s.io", "validatingadmissionpolicies", "cluster", "tidegate-command-author"),
)
YOURS: tuple[Right, ...] = (
    Right("list", OURS, "trafficshifts"),
    Right("patch", OURS, "trafficshifts"),
    Right("get", ISTIO, "virtualservices"),
)
POLICIES = (
    *("tidegate-weights-only", "tidegate-subsets-only", "tidegate-spec-is-its-authors"),
    *("tidegate-status-author", "tidegate-command-author"),
)
