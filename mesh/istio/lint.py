"""What is wrong with a folder's documents although each field of them is understood?

RULES is the one table: which code, how bad, which function looks, and what it is about. Codes are Istio's where Istio
has one (IST0106 is what its admission webhook refuses), TG are ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from mesh.istio import lint_alone as alone
from mesh.istio import lint_delegates as delegates
from mesh.istio import lint_retries as retries
from mesh.istio import lint_together as together
from mesh.istio.document import Document
from mesh.istio.lint_alone import Look, each_route
from mesh.istio.lint_scene import Scene
from mesh.istio.problem import Problem


class Level(StrEnum):
    """How bad a finding is. An error makes requests fail or weights mean nothing."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Rule:
    """`look` finds the places; `about` says in a few words what is looked for."""

    name: str
    code: str
    level: Level
    look: Look
    about: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at: which rule found it, by Istio's code for it, how bad, and where."""

    rule: str
    code: str
    level: Level
    problem: Problem

    def __str__(self) -> str:
        return f"{self.problem} [{self.level} {self.code} {self.rule}]"


RULES: tuple[Rule, ...] = (
    Rule("refused", "IST0106", Level.ERROR, alone.refused, "a field or value that the mesh refuses"),
    Rule("host-twice", "IST0106", Level.ERROR, alone.host_written_twice, "one host in its short and full form"),
    Rule("unknown-host", "IST0101", Level.ERROR, together.unknown_host, "a destination that no ServiceEntry declares"),
    Rule("unknown-subset", "IST0101", Level.ERROR, together.unknown_subset, "a subset that no rule declares"),
    Rule("unknown-gateway", "IST0101", Level.ERROR, together.unknown_gateway, "a Gateway that doesn't exist"),
    Rule("host-taken", "IST0109", Level.ERROR, together.host_taken, "two VirtualServices of the mesh for one host"),
    Rule("port-needed", "IST0112", Level.ERROR, together.port_needed, "no port for a host that has several"),
    Rule("port-unknown", "IST0101", Level.ERROR, together.port_unknown, "a port that the host doesn't have"),
    Rule("empty-subset-in-use", "IST0173", Level.ERROR, together.empty_subset_in_use, "traffic for no endpoint"),
    Rule("empty-subset", "IST0173", Level.WARNING, together.empty_subset, "a subset that selects no endpoint"),
    Rule("port-not-http", "IST0118", Level.WARNING, together.port_not_http, "a routed port that isn't HTTP or gRPC"),
    Rule("grpc-as-http1", "IST0118", Level.WARNING, together.grpc_as_http1, "a gRPC port that is declared HTTP"),
    Rule("unreachable-route", "IST0130", Level.WARNING, together.unreachable_route, "a route hidden by earlier ones"),
    Rule("ineffective-match", "IST0131", Level.INFO, together.ineffective_match, "a match that an earlier route takes"),
    Rule("host-not-in-gateway", "IST0132", Level.WARNING, together.host_not_in_gateway, "a host the Gateway lacks"),
    Rule("gateway-past-weights", "IST0140", Level.WARNING, together.gateway_past_weights, "ingress past the weights"),
    Rule("unknown-rule-host", "IST0174", Level.WARNING, together.unknown_rule_host, "a DestinationRule for no service"),
    Rule("subset-shadowed", "TG001", Level.WARNING, together.subset_shadowed, "a subset that another rule declares"),
    Rule("attempt-count", "TG002", Level.WARNING, each_route(alone.attempt_count_touched), "Envoy's attempt count"),
    Rule("destination-twice", "TG003", Level.WARNING, each_route(alone.destination_twice), "one destination twice"),
    Rule("match-gateways", "TG004", Level.WARNING, each_route(alone.source_labels_beside_gateways), "ignored labels"),
    Rule("weight-idle", "TG005", Level.INFO, each_route(alone.weight_without_effect), "weight 0 of a lone destination"),
    Rule("envoy-header", "TG007", Level.WARNING, each_route(alone.envoys_header_touched), "headers of Envoy's own"),
    Rule("retries-differ", "TG008", Level.WARNING, retries.retries_differ, "versions that are retried differently"),
    Rule("retries-multiply", "TG009", Level.WARNING, retries.retries_multiply, "retries in two layers"),
    Rule("delegate-headers", "TG010", Level.WARNING, delegates.delegate_headers, "operations that a delegate drops"),
    Rule("unknown-delegate", "TG011", Level.WARNING, delegates.unknown_delegate, "a delegate that doesn't exist"),
    Rule("gateway-host-shared", "TG012", Level.INFO, delegates.gateway_host_shared, "a host in two documents"),
    Rule("deprecated", "IST0002", Level.WARNING, each_route(alone.deprecated), "a field that has a successor"),
    Rule("retries-off", "TG006", Level.INFO, each_route(alone.retries_switched_off), "an empty block of retries"),
)


def lint(documents: Sequence[Document], rules: Sequence[Rule] = RULES) -> tuple[Finding, ...]:
    """All findings about documents that make up a whole mesh, in the order of their places."""
    scene = Scene(documents)
    found = [Finding(rule.name, rule.code, rule.level, problem) for rule in rules for problem in rule.look(scene)]
    return tuple(sorted(found, key=_by_place))


def _by_place(finding: Finding) -> tuple[str, int, int, str, str]:
    problem = finding.problem
    return (problem.file, problem.line, problem.column, finding.code, finding.rule)
