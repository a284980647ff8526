"""Which faults, CORS policies, mirrors and delegates would istiod's webhook refuse?"""

from collections.abc import Iterator, Mapping
from typing import Any

from mesh.istio.finding import Finding, is_host, is_label

Data = Mapping[str, Any]
Path = tuple[str | int, ...]
LEAST_PERCENT = 0.0001


def destination(data: Data, path: Path) -> Iterator[Finding]:
    """A place that requests or their copies go to."""
    host, subset = data["host"], data.get("subset", "")
    if host == "*" or not is_host(host):
        yield Finding((*path, "host"), f"{host!r} is not the name of one host")
    if subset and not is_label(subset):
        yield Finding((*path, "subset"), f"{subset!r} is not a DNS label")


def mirrors(http: Data, path: Path) -> Iterator[Finding]:
    """Where copies go."""
    if "mirror" in http:
        yield from destination(http["mirror"], (*path, "mirror"))
        if http.get("mirrors"):
            yield Finding((*path, "mirrors"), "a route has either mirror or mirrors")
    for index, each in enumerate(http.get("mirrors", ())):
        yield from destination(each["destination"], (*path, "mirrors", index, "destination"))


def faults(http: Data, path: Path) -> Iterator[Finding]:
    """What goes wrong on purpose."""
    if "fault" not in http:
        return
    where = (*path, "fault")
    if http.keys() & {"redirect", "directResponse"}:
        yield Finding(where, "no fault beside a redirect or a direct response")
    if not http["fault"].keys() & {"delay", "abort"}:
        yield Finding(where, "a fault needs a delay or an abort")
    for kind, block in http["fault"].items():
        share = block.get("percentage", {}).get("value", 0)
        if 0 < share < LEAST_PERCENT:
            yield Finding((*where, kind, "percentage"), f"a percentage is 0 or at least {LEAST_PERCENT}")
    if {"httpStatus", "grpcStatus"} <= http["fault"].get("abort", {}).keys():
        yield Finding((*where, "abort"), "an abort has either httpStatus or grpcStatus")


def cors(http: Data, path: Path) -> Iterator[Finding]:
    """Which other sites may call."""
    for index, origin in enumerate(http.get("corsPolicy", {}).get("allowOrigins", ())):
        at = (*path, "corsPolicy", "allowOrigins", index)
        if len(origin) != 1 or not all(origin.values()):
            yield Finding(at, "an origin is one of exact, prefix and regex, and not empty")


def delegates(http: Data, path: Path) -> Iterator[Finding]:
    """What a route that is passed on may still say."""
    if "delegate" in http:
        for name in ("route", "redirect"):
            if name in http:
                yield Finding((*path, name), f"a route with a delegate has no {name} of its own")
