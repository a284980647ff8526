"""Which documents would istiod's webhook refuse, though every field is known and has the right type?

The rules are Istio's own, so that a folder that the local mesh runs is one that a cluster takes. Each rule yields what
it finds, and all findings come together.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mesh.istio import rules_destination_rule, rules_places, rules_virtual_service
from mesh.istio.document import Document
from mesh.istio.finding import Finding, duplicates
from mesh.istio.problem import Problem

Rule = Callable[[Mapping[str, Any]], Iterator[Finding]]


def _export_to(document: Document) -> Iterator[Finding]:
    """`.` is the document's own namespace. A rule for some workloads of it is for nobody else."""
    spec = document.data["spec"]
    scopes = [document.namespace if scope == "." else scope for scope in spec.get("exportTo", ())]
    for index, scope in duplicates(scopes):
        yield Finding(("spec", "exportTo", index), f"exportTo names {scope!r} twice")
    if document.kind == "DestinationRule" and "workloadSelector" in spec and set(scopes) - {document.namespace}:
        yield Finding(("spec", "exportTo"), "a rule for some workloads can't be exported to other namespaces")


_RULES: dict[str, tuple[Rule, ...]] = {
    "VirtualService": rules_virtual_service.RULES,
    "DestinationRule": rules_destination_rule.RULES,
    "Gateway": rules_places.GATEWAY,
    "ServiceEntry": rules_places.SERVICE_ENTRY,
    "WorkloadEntry": rules_places.WORKLOAD_ENTRY,
    "Sidecar": rules_places.SIDECAR,
    "PeerAuthentication": (),
}


def broken_rules(document: Document) -> list[Problem]:
    """What is wrong with a document whose fields are all supported."""
    findings = [finding for rule in _RULES[document.kind] for finding in rule(document.data["spec"])]
    return [
        document.problem(finding.path, finding.message, finding.hint) for finding in (*findings, *_export_to(document))
    ]
