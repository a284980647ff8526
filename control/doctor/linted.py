"""Which of lint's findings are about the documents that one shift goes by? Pure."""

from collections.abc import Sequence

from control.doctor.facts import Linted
from control.spec import TrafficShift
from mesh.istio.document import Document
from mesh.istio.hosts import full_name
from mesh.istio.lint import RULES, Level, lint
from mesh.istio.lint_scene import mapping, words

HERE = frozenset(
    {
        *("refused", "host-twice", "host-taken", "unreachable-route", "gateway-past-weights", "subset-shadowed"),
        *("attempt-count", "destination-twice", "envoy-header", "retries-differ", "retries-multiply"),
    }
)
"""Rules that go by VirtualServices and DestinationRules alone: nobody need see the cluster's Services and Gateways."""


def linted(documents: Sequence[Document], shift: TrafficShift) -> tuple[Linted, ...]:
    """Errors and warnings about the shift's VirtualServices, others of its host, and its host's DestinationRules."""
    its = {each.key for each in documents if _is_its(each, shift)}
    found = lint(documents, [rule for rule in RULES if rule.name in HERE and rule.level is not Level.INFO])
    return tuple(
        Linted(each.code, f"{each.problem.document[0]} {each.problem.document[2]}: {each.problem.message}", each.level)
        for each in found
        if each.problem.document is not None and each.problem.document in its
    )


def _is_its(document: Document, shift: TrafficShift) -> bool:
    spec = mapping(document.data.get("spec"))
    match document.kind:
        case "VirtualService":
            routed = {(ref.namespace, ref.virtual_service) for ref in shift.target.routes}
            hosts = {full_name(host, document.namespace) for host in words(spec.get("hosts"))}
            return (document.namespace, document.name) in routed or shift.host in hosts
        case "DestinationRule":
            return full_name(str(spec.get("host", "")), document.namespace) == shift.host
        case _:
            return False
