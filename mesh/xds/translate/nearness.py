"""In which order does a caller prefer endpoints, by where they are? Istio's locality load balancing, as pure functions.

Endpoints come in groups of one locality. Either a rule divides the work between localities by weight, or endpoints are
ranked: what is nearest comes first, and the next rank is asked only when outlier detection has emptied the one before.

Source: istio pilot/pkg/networking/core/loadbalancer.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import ceil
from typing import NamedTuple

from mesh.istio.views import NETWORK, Labels
from mesh.istio.views_balancing import LocalitySetting
from mesh.xds.translate.caller import Caller

_BY_NEARNESS = LocalitySetting()
_RANKS = 5


@dataclass(frozen=True, slots=True)
class PlaceToServe:
    """An endpoint of one cluster. The port of a unix socket is 0."""

    address: str
    port: int
    weight: int
    locality: str
    labels: Labels = ()


@dataclass(frozen=True, slots=True)
class Group:
    """Endpoints of one locality and rank (0 is asked first), and their weight among the other groups."""

    locality: str
    places: tuple[PlaceToServe, ...]
    weight: int
    priority: int = 0


class Where(NamedTuple):
    """The parts of a locality; what is missing is empty."""

    region: str
    zone: str
    sub_zone: str


def where(locality: str) -> Where:
    """Example: where("eu/a") == Where("eu", "a", "")"""
    return Where(*(*locality.split("/"), "", "", "")[:3])


def grouped(places: Iterable[PlaceToServe]) -> tuple[Group, ...]:
    """One group for each locality, each as heavy as its endpoints together."""
    ordered = sorted(places, key=lambda place: place.locality)
    groups = [(locality, tuple(found)) for locality, found in groupby(ordered, key=lambda place: place.locality)]
    return tuple(Group(locality, found, sum(place.weight for place in found)) for locality, found in groups)


def arranged(
    groups: tuple[Group, ...], setting: LocalitySetting | None, caller: Caller, *, fails_over: bool
) -> tuple[Group, ...]:
    """The groups as this caller is told of them. Ranks mean something only where outlier detection `fails_over`."""
    chosen = setting or _BY_NEARNESS
    if not chosen.enabled:
        return groups
    if chosen.distribute is not None:
        return _distributed(groups, chosen.distribute, caller)
    if not fails_over:
        return groups
    if chosen.failover_priority is None:
        return _by_locality(groups, chosen.failover or (), caller)
    ranked = _by_labels(groups, chosen.failover_priority, caller)
    return ranked if chosen.failover is None else _by_locality(ranked, chosen.failover, caller)


_Shares = tuple[tuple[str, tuple[tuple[str, int], ...]], ...]


def _distributed(groups: tuple[Group, ...], distribute: _Shares, caller: Caller) -> tuple[Group, ...]:
    """The first rule for the caller's place counts; localities that it doesn't name get nothing."""
    shares = next((to for start, to in distribute if _matches(caller.locality, start)), None)
    if shares is None:
        return groups
    found = {index: replace(group, places=()) for index, group in enumerate(groups)}
    left = set(found)
    for pattern, share in shares:
        hit = [index for index in sorted(left) if _matches(groups[index].locality, pattern)]
        total = sum(groups[index].weight for index in hit)
        left -= set(hit)
        for index in hit:
            heavy = ceil(groups[index].weight * share / total) or groups[index].weight
            found[index] = replace(groups[index], weight=heavy)
    return tuple(found.values())


def _matches(locality: str, pattern: str) -> bool:
    """`*` is any region; a zone or subzone that the pattern leaves out is any too."""
    here, wanted = where(locality), where(pattern)
    return wanted.region in ("*", here.region) and all(
        want in ("*", "", have) for want, have in zip(wanted[1:], here[1:], strict=True)
    )


def _by_locality(groups: Sequence[Group], failover: Sequence[tuple[str, str]], caller: Caller) -> tuple[Group, ...]:
    """Same subzone, zone, region, then the rest; of the rest the region that a rule names goes first."""
    here = where(caller.locality)
    instead = next((to for start, to in failover if start == here.region), None)

    def rank(group: Group) -> int:
        there = where(group.locality)
        if there.region != here.region:
            return 3 if instead is None or there.region == instead else 4
        if there.zone != here.zone:
            return 2
        return 0 if there.sub_zone == here.sub_zone else 1

    return _without_gaps([replace(group, priority=group.priority * _RANKS + rank(group)) for group in groups])


def _by_labels(groups: Sequence[Group], wanted: Sequence[str], caller: Caller) -> tuple[Group, ...]:
    """The more labels, from the first on, an endpoint shares with the caller, the nearer. A caller without labels ranks
    nobody.
    """
    if not caller.labels:
        return tuple(groups)
    rank = _ranking(wanted, caller)
    parts = []
    for group in groups:
        ordered = sorted(group.places, key=rank)
        for priority, places in groupby(ordered, key=rank):
            found = tuple(places)
            parts.append(Group(group.locality, found, sum(place.weight for place in found), priority))
    return _without_gaps(parts)


def _ranking(wanted: Sequence[str], caller: Caller) -> Callable[[PlaceToServe], int]:
    """A label may carry the value that is looked for, instead of the caller's own. The network only shifts ranks."""
    own = dict(caller.labels)
    pairs = [(name, value if equals else own.get(name, "")) for name, equals, value in _split(wanted)]
    by_network = bool(wanted) and wanted[0] == NETWORK

    def rank(place: PlaceToServe) -> int:
        theirs = dict(place.labels)
        shift = len(wanted) if by_network and theirs.get(NETWORK, "") != pairs[0][1] else 0
        for index, (name, value) in enumerate(pairs):
            if theirs.get(name, "") != value and not (index == 0 and by_network):
                return len(wanted) - index + shift
        return shift

    return rank


def _split(wanted: Sequence[str]) -> list[tuple[str, str, str]]:
    return [label.partition("=") for label in wanted]


def _without_gaps(groups: Sequence[Group]) -> tuple[Group, ...]:
    """Envoy wants ranks from 0 on without a gap."""
    ranks = sorted({group.priority for group in groups})
    return tuple(replace(group, priority=ranks.index(group.priority)) for group in groups)
