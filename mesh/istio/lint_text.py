"""Which mistakes does a VirtualService or DestinationRule carry in itself?

The rules of Istio's own admission webhook that touch hosts, weights, headers and retries, which no mesh should be
handed, and a few words of warning about what is allowed but surely not meant.
Source: istio/istio pkg/config/validation/virtualservice.go, agent/validation.go
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from mesh.istio.document import Document
from mesh.istio.duration import MILLISECOND, parse_duration
from mesh.istio.hosts import overlap
from mesh.istio.lint_scene import (
    MESH,
    Route,
    Scene,
    gateways_of,
    hosts_of,
    mapping,
    number,
    sequence,
    spec_of,
    subsets_of,
    word,
    words,
)
from mesh.istio.yaml_nodes import Data, Path

ATTEMPT_COUNT = "x-envoy-attempt-count"
RETRY_CONDITIONS = frozenset(
    {
        "5xx",
        "cancelled",
        "connect-failure",
        "deadline-exceeded",
        "envoy-ratelimited",
        "gateway-error",
        "http3-post-connect-failure",
        "internal",
        "refused-stream",
        "reset",
        "reset-before-request",
        "resource-exhausted",
        "retriable-4xx",
        "retriable-headers",
        "retriable-status-codes",
        "unavailable",
    }
)
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z")
_STATUS = re.compile(r"[1-5][0-9][0-9]\Z")
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Note:
    """What a rule has to say about one place of a document."""

    document: Document
    path: Path
    message: str
    hint: str = ""


Notes = Iterator[Note]


def each_route(rule: Callable[[Route], Notes]) -> Callable[[Scene], Notes]:
    """A rule of the scene from a rule of one route."""

    def of_scene(scene: Scene) -> Notes:
        for route in scene.routes:
            yield from rule(route)

    return of_scene


def hosts_missing(scene: Scene) -> Notes:
    for document in scene.virtual_services:
        if not sequence(spec_of(document).get("hosts")):
            yield Note(document, ("spec", "hosts"), "a VirtualService needs at least one host")


def wildcard_in_mesh(scene: Scene) -> Notes:
    for document in scene.virtual_services:
        if MESH in gateways_of(document) and "*" in hosts_of(document):
            yield Note(document, ("spec", "hosts"), "the host * can't be used inside the mesh", "name the hosts")


def hosts_overlap(scene: Scene) -> Notes:
    for document in scene.virtual_services:
        hosts = hosts_of(document)
        for at, host in enumerate(hosts):
            other = next((earlier for earlier in hosts[:at] if overlap(earlier, host)), None)
            if other:
                yield Note(
                    document, ("spec", "hosts", at), f"the hosts {other} and {host} overlap", "remove one of them"
                )


def export_to_twice(scene: Scene) -> Notes:
    for document in scene.documents:
        scopes = words(spec_of(document).get("exportTo"))
        twice = sorted({scope for scope in scopes if scopes.count(scope) > 1})
        if twice:
            yield Note(document, ("spec", "exportTo"), f"exportTo lists {', '.join(twice)} twice")


def one_action(route: Route) -> Notes:
    actions = route.actions
    if route.data.get("delegate") is not None:
        return
    if len(actions) > 1:
        yield Note(route.document, (*route.path, actions[1]), f"{route.title} has {' and '.join(actions)}", "keep one")
    if not actions or (actions == ("route",) and not sequence(route.data["route"])):
        message = f"{route.title} does nothing"
        yield Note(route.document, route.path, message, "give it one of route, redirect, directResponse")


def rewrite_without_route(route: Route) -> Notes:
    if route.data.get("rewrite") is not None and set(route.actions) & {"redirect", "directResponse"}:
        yield Note(
            route.document, (*route.path, "rewrite"), "a rewrite has no effect beside redirect or directResponse"
        )


def weight_not_a_count(route: Route) -> Notes:
    for at, entry in enumerate(sequence(route.data.get("route"))):
        value = mapping(entry).get("weight")
        count = number(value)
        if value is not None and (count is None or count < 0):
            path = (*route.path, "route", at, "weight")
            yield Note(route.document, path, f"the weight {str(value)[:40]} is no whole number from 0 up")


def weights_sum_to_zero(route: Route) -> Notes:
    targets = route.targets
    if len(targets) > 1 and sum(target.weight or 0 for target in targets) == 0:
        message = f"the weights of {route.title} sum to 0"
        yield Note(route.document, (*route.path, "route"), message, "give one of its destinations a weight above 0")


def weight_without_effect(route: Route) -> Notes:
    targets = route.targets
    if len(targets) == 1 and targets[0].weight == 0:
        message = "the only destination gets all traffic, whatever its weight"
        yield Note(route.document, (*targets[0].path, "weight"), message, "remove the weight, or the route")


def destination_host(route: Route) -> Notes:
    for target in route.targets:
        if target.host in ("", "*"):
            message = "a destination can't be *" if target.host else "a destination without a host"
            yield Note(route.document, (*target.path, "destination", "host"), message, "name one host")


def destination_twice(route: Route) -> Notes:
    seen = set[tuple[str, str, int | None]]()
    for target in route.targets:
        known = (target.host, target.subset, target.port)
        if target.host and known in seen:
            message = f"{target.host} {target.subset}".strip() + " is a destination of this route twice"
            yield Note(route.document, target.path, message, "list it once, with the sum of the weights")
        seen.add(known)


def retry_attempts(route: Route) -> Notes:
    block = mapping(route.data.get("retries"))
    attempts = number(block.get("attempts")) or 0
    path = (*route.path, "retries")
    if attempts < 0:
        yield Note(route.document, (*path, "attempts"), f"retries.attempts is {attempts}", "0 switches retries off")
    idle = [name for name in ("perTryTimeout", "retryOn") if block.get(name)]
    if block and attempts == 0 and idle:
        yield Note(route.document, (*path, idle[0]), f"{idle[0]} has no effect without attempts", "set attempts")


def retry_conditions(route: Route) -> Notes:
    conditions = word(mapping(route.data.get("retries")).get("retryOn"))
    for condition in conditions.split(",") if conditions else ():
        if condition not in RETRY_CONDITIONS and not _STATUS.match(condition):
            hint = (
                "no spaces"
                if condition.strip() in RETRY_CONDITIONS
                else f"one of {', '.join(sorted(RETRY_CONDITIONS))}"
            )
            path = (*route.path, "retries", "retryOn")
            yield Note(route.document, path, f"retryOn has no condition {condition!r}", hint)


def retries_switched_off(route: Route) -> Notes:
    if route.data.get("retries") == {}:
        message = "an empty retries block switches retries off"
        yield Note(
            route.document, (*route.path, "retries"), message, "write attempts: 0, or leave it out for two retries"
        )


def durations(route: Route) -> Notes:
    per_try = mapping(route.data.get("retries")).get("perTryTimeout")
    for place, text in ((("timeout",), route.data.get("timeout")), (("retries", "perTryTimeout"), per_try)):
        if isinstance(text, str) and (mistake := _duration_mistake(text)):
            yield Note(route.document, (*route.path, *place), mistake, "leave it out for no timeout")


def _duration_mistake(text: str) -> str | None:
    try:
        duration = parse_duration(text)
    except ValueError as error:
        return str(error)
    whole = duration >= MILLISECOND and not duration % MILLISECOND
    return None if whole else f"the duration {text} is not a whole number of milliseconds, from 1ms up"


@dataclass(frozen=True, slots=True)
class _Operation:
    """One entry of a headers block."""

    path: Path
    direction: str
    verb: str
    name: str
    value: str

    @property
    def of_authority(self) -> bool:
        """Does it rewrite the authority of a request, as it may?"""
        known = self.name.lower() in (":authority", "host")
        return known and self.direction == "request" and self.verb != "remove"


def _operations(route: Route) -> Iterator[_Operation]:
    yield from _operations_of(mapping(route.data.get("headers")), (*route.path, "headers"))
    for at, entry in enumerate(sequence(route.data.get("route"))):
        yield from _operations_of(mapping(mapping(entry).get("headers")), (*route.path, "route", at, "headers"))


def _operations_of(block: Mapping[str, Data], path: Path) -> Iterator[_Operation]:
    for direction in ("request", "response"):
        for verb in ("set", "add"):
            for name, value in mapping(mapping(block.get(direction)).get(verb)).items():
                yield _Operation((*path, direction, verb, name), direction, verb, name, word(value))
        for at, name in enumerate(words(mapping(block.get(direction)).get("remove"))):
            yield _Operation((*path, direction, "remove", at), direction, "remove", name, "")


def header_names(route: Route) -> Notes:
    for operation in _operations(route):
        name = operation.name.lower()
        if not name:
            yield Note(route.document, operation.path, "a header without a name")
        elif (name.startswith(":") or name == "host") and not operation.of_authority:
            message = f"headers can't {operation.verb} {name} in a {operation.direction}"
            yield Note(route.document, operation.path, message)


def header_values(route: Route) -> Notes:
    for operation in _operations(route):
        if _CONTROL.search(operation.value):
            yield Note(
                route.document, operation.path, f"the header {operation.name} has a control character in its value"
            )
        if operation.value.replace("%%", "").count("%") % 2:
            message = f"the header {operation.name} has a lone % in its value"
            yield Note(route.document, operation.path, message, "write %% for a per cent sign")


def attempt_count_touched(route: Route) -> Notes:
    for operation in _operations(route):
        if operation.name.lower() == ATTEMPT_COUNT:
            message = f"{operation.verb} {ATTEMPT_COUNT} changes the first try only; retries carry Envoy's own count"
            yield Note(route.document, operation.path, message, "leave this header to Envoy")


def authority_twice(route: Route) -> Notes:
    rewritten = bool(mapping(route.data.get("rewrite")).get("authority"))
    own = _operations_of(mapping(route.data.get("headers")), (*route.path, "headers"))
    places = [operation.path for operation in own if operation.of_authority]
    if len(places) + rewritten > 1:
        yield Note(route.document, places[-1], "the authority is rewritten twice", "use rewrite.authority alone")


def source_labels_beside_gateways(route: Route) -> Notes:
    for at, entry in enumerate(sequence(route.data.get("match"))):
        block = mapping(entry)
        ignored = [name for name in ("sourceLabels", "sourceNamespace") if block.get(name)]
        if block.get("gateways") and ignored:
            message = f"{ignored[0]} is not looked at in a match that names gateways"
            yield Note(route.document, (*route.path, "match", at, ignored[0]), message, "use two matches")


def subset_names(scene: Scene) -> Notes:
    for document in scene.destination_rules:
        seen: set[str] = set()
        for subset in subsets_of(document):
            if not _LABEL.match(subset.name):
                message = f"the subset name {subset.name!r} must be lower-case letters, digits and '-'"
                yield Note(document, (*subset.path, "name"), message)
            elif subset.name in seen:
                yield Note(
                    document, (*subset.path, "name"), f"the subset {subset.name} is declared twice", "remove one"
                )
            seen.add(subset.name)
