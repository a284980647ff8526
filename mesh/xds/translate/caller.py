"""Who calls? What of a workload decides which endpoints it is told of, and in which order of preference."""

from dataclasses import dataclass

from mesh.istio.views import Labels


@dataclass(frozen=True, slots=True)
class Caller:
    """A workload's namespace, labels and place (`region/zone/subzone`, or "" when it is nowhere in particular)."""

    namespace: str
    labels: Labels
    locality: str = ""
