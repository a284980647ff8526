"""What is wrong with a folder's documents although each field of them is understood?

RULES is the one table: which code, how bad, which function looks, and what it is about. Codes are Istio's where Istio
has one (IST0106 is what its admission webhook refuses), TG are ours.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from mesh.istio import lint_text as text
from mesh.istio import lint_together as together
from mesh.istio.document import Document
from mesh.istio.lint_scene import Scene
from mesh.istio.lint_text import Note, Notes, each_route
from mesh.istio.problem import Problem

WEBHOOK = "IST0106"


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
    look: Callable[[Scene], Notes]
    about: str


@dataclass(frozen=True, slots=True)
class Finding:
    rule: str
    code: str
    level: Level
    problem: Problem

    def __str__(self) -> str:
        return f"{self.problem} [{self.level} {self.code} {self.rule}]"


RULES: tuple[Rule, ...] = (
    Rule("hosts-missing", WEBHOOK, Level.ERROR, text.hosts_missing, "a VirtualService without hosts"),
    Rule("wildcard-in-mesh", WEBHOOK, Level.ERROR, text.wildcard_in_mesh, "the host * inside the mesh"),
    Rule("hosts-overlap", WEBHOOK, Level.ERROR, text.hosts_overlap, "hosts of one VirtualService that overlap"),
    Rule("export-to-twice", WEBHOOK, Level.ERROR, text.export_to_twice, "the same scope twice in exportTo"),
    Rule("one-action", WEBHOOK, Level.ERROR, each_route(text.one_action), "not exactly one action in a route"),
    Rule("rewrite-alone", WEBHOOK, Level.ERROR, each_route(text.rewrite_without_route), "a rewrite beside a redirect"),
    Rule("weight-count", WEBHOOK, Level.ERROR, each_route(text.weight_not_a_count), "a negative or odd weight"),
    Rule("weights-zero", WEBHOOK, Level.ERROR, each_route(text.weights_sum_to_zero), "weights that sum to 0"),
    Rule("destination-host", WEBHOOK, Level.ERROR, each_route(text.destination_host), "a destination without a host"),
    Rule("retry-attempts", WEBHOOK, Level.ERROR, each_route(text.retry_attempts), "retry fields that contradict"),
    Rule("retry-conditions", WEBHOOK, Level.ERROR, each_route(text.retry_conditions), "a retryOn that doesn't exist"),
    Rule("durations", WEBHOOK, Level.ERROR, each_route(text.durations), "a timeout below or between milliseconds"),
    Rule("header-names", WEBHOOK, Level.ERROR, each_route(text.header_names), "a header that can't be changed"),
    Rule("header-values", WEBHOOK, Level.ERROR, each_route(text.header_values), "a header value that Envoy refuses"),
    Rule("authority-twice", WEBHOOK, Level.ERROR, each_route(text.authority_twice), "two rewrites of the authority"),
    Rule("subset-names", WEBHOOK, Level.ERROR, text.subset_names, "a subset name that is odd or there twice"),
    Rule("unknown-host", "IST0101", Level.ERROR, together.unknown_host, "a destination that no ServiceEntry declares"),
    Rule(
        "unknown-subset", "IST0101", Level.ERROR, together.unknown_subset, "a subset that no DestinationRule declares"
    ),
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
    Rule("attempt-count", "TG002", Level.WARNING, each_route(text.attempt_count_touched), "Envoy's attempt count"),
    Rule("destination-twice", "TG003", Level.WARNING, each_route(text.destination_twice), "a destination listed twice"),
    Rule("match-gateways", "TG004", Level.WARNING, each_route(text.source_labels_beside_gateways), "ignored labels"),
    Rule(
        "weight-idle", "TG005", Level.INFO, each_route(text.weight_without_effect), "weight 0 of the only destination"
    ),
    Rule("retries-off", "TG006", Level.INFO, each_route(text.retries_switched_off), "an empty block of retries"),
)


def lint(documents: Sequence[Document], rules: Sequence[Rule] = RULES) -> tuple[Finding, ...]:
    """All findings about documents that make up a whole mesh, in the order of their places."""
    scene = Scene(documents)
    found = [_finding(rule, note) for rule in rules for note in rule.look(scene)]
    return tuple(sorted(found, key=_by_place))


def refusals(documents: Sequence[Document]) -> list[Problem]:
    """What Istio's admission webhook would refuse: mistakes of one document alone, which no mesh should be handed."""
    webhook = [rule for rule in RULES if rule.code == WEBHOOK]
    return [finding.problem for finding in lint(documents, webhook)]


def _finding(rule: Rule, note: Note) -> Finding:
    return Finding(rule.name, rule.code, rule.level, note.document.problem(note.path, note.message, note.hint))


def _by_place(finding: Finding) -> tuple[str, int, int, str, str]:
    problem = finding.problem
    return (problem.file, problem.line, problem.column, finding.code, finding.rule)
