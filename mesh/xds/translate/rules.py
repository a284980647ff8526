"""Which DestinationRules hold for a call, and what do they say together?

Rules of one host and namespace are merged as istiod merges them: by age, those that are exported alike (or more widely)
into those before them, all others beside them. A caller's own namespace is asked first, then the
service's, then the root namespace.

Source: istio pilot/pkg/model/destination_rule.go, push_context.go (setDestinationRules, destinationRule), sidecar.go.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from mesh.istio.hosts import covers, is_wildcard, specificity
from mesh.istio.views import Identity, Labels, selects
from mesh.istio.views_destination_rule import DestinationRule, Subset, TrafficPolicy

ROOT_NAMESPACE = "istio-system"
_EVERYONE, _OWN = "*", "."


@dataclass(frozen=True, slots=True)
class Rule:
    """What DestinationRules of one host say together. `source` is the first of them."""

    source: Identity
    policy: TrafficPolicy | None
    subsets: tuple[Subset, ...]
    export_to: frozenset[str] = frozenset()
    selector: Labels = ()


ByHost = dict[str, tuple[Rule, ...]]


@dataclass(frozen=True, slots=True)
class Pools:
    """Merged rules by namespace and host: those for a namespace's own callers, and those for others."""

    own: dict[str, ByHost]
    exported: dict[str, ByHost]

    def applicable(self, host: str, owner: str, client: str, labels: Labels) -> Rule | None:
        """The rule for a call of a workload with `labels` in namespace `client` to a service of namespace `owner`."""
        found = _most_specific(self.own.get(client, {}), host) or self._of_others(host, owner, client)
        return _chosen(found, client, labels)

    def _of_others(self, host: str, owner: str, client: str) -> tuple[Rule, ...]:
        for namespace in (owner, ROOT_NAMESPACE):
            found = _most_specific(self.exported.get(namespace, {}), host)
            seen = tuple(rule for rule in found if not rule.export_to or rule.export_to & {_EVERYONE, client})
            if seen:
                return seen
        return ()


def pools(rules: Iterable[DestinationRule]) -> Pools:
    """The rules, merged. In the root namespace only private ones are its callers' own: the others are for everybody."""
    own: dict[str, dict[str, list[Rule]]] = {}
    exported: dict[str, dict[str, list[Rule]]] = {}
    for rule in sorted(rules, key=lambda rule: not rule.selector):
        namespace, made = rule.identity.namespace, _alone(rule)
        private = made.export_to in ({_OWN}, {namespace})
        if private if namespace == ROOT_NAMESPACE else _is_for(made, namespace):
            _add(own.setdefault(namespace, {}).setdefault(rule.host, []), made)
        if not private:
            _add(exported.setdefault(namespace, {}).setdefault(rule.host, []), made)
    return Pools(_frozen(own), _frozen(exported))


def _alone(rule: DestinationRule) -> Rule:
    """One document. A rule that selects workloads is for its own namespace, whatever it says."""
    export_to = frozenset({_OWN} if rule.selector else rule.export_to)
    return Rule(rule.identity, rule.policy, rule.subsets, export_to, rule.selector)


def _is_for(rule: Rule, namespace: str) -> bool:
    return not rule.export_to or bool(rule.export_to & {_EVERYONE, _OWN, namespace})


def _add(known: list[Rule], rule: Rule) -> None:
    beside = True
    for index, other in enumerate(known):
        alike = rule.export_to == other.export_to
        if not alike and not (other.export_to and rule.export_to >= other.export_to):
            beside = True
            continue
        if rule.selector and other.selector and rule.selector != other.selector:
            beside = True
            continue
        beside = not (alike or rule.selector == other.selector)
        known[index] = _joined(other, rule)
    if beside:
        known.append(rule)


def _joined(first: Rule, second: Rule) -> Rule:
    """Subsets of both, the first of a name kept; the first traffic policy."""
    names = {subset.name for subset in first.subsets}
    more = tuple(subset for subset in second.subsets if subset.name not in names)
    return replace(first, subsets=first.subsets + more, policy=first.policy or second.policy)


def _frozen(found: dict[str, dict[str, list[Rule]]]) -> dict[str, ByHost]:
    return {namespace: {host: tuple(rules) for host, rules in hosts.items()} for namespace, hosts in found.items()}


def _most_specific(by_host: ByHost, host: str) -> tuple[Rule, ...]:
    if host in by_host:
        return by_host[host]
    patterns = [pattern for pattern in by_host if is_wildcard(pattern) and covers(pattern, host)]
    return by_host[min(patterns, key=specificity)] if patterns else ()


def _chosen(rules: Sequence[Rule], client: str, labels: Labels) -> Rule | None:
    """The first that selects the caller, else the last that selects nobody in particular."""
    for rule in rules:
        if rule.selector and rule.source.namespace == client and selects(rule.selector, labels):
            return rule
    return next((rule for rule in reversed(rules) if not rule.selector), None)
