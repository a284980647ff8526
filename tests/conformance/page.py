"""What does docs/conformance.md say? Figures, every refusal with its reason, and what is not compared."""

from collections.abc import Iterator, Sequence

from tests.conformance.canonical import IGNORED
from tests.conformance.compare import Outcome
from tests.conformance.golden import asked_version
from tests.conformance.results import Ended, read

_HEAD = """\
<!-- Made by `make docs`; a test fails when it is stale. -->
# The laptop mesh beside a real istiod

The local mesh claims to do what istiod does. So both are given the same documents: a real istiod ({version}, with an
API server, for proxies with `INTERCEPTION_MODE=NONE` and no certificates) and `mesh/xds/translate`. What each tells a
workload's Envoy and a gateway's is compared as a whole: listeners, routes, clusters and endpoints, field by field.

Each case is a small mesh in a namespace of its own. Some were drawn by hypothesis and written to a file, the others are
written by hand, one for each rule of the translation. Istiod's answers are kept in `tests/conformance/golden`, so the
comparison runs without it with every `make test`; `make test-cluster` asks a real one again. `python -m
tests.conformance` prints the figures below, `--write` renews answers and this page.
"""
_NAMES = {
    "delegates": "VirtualServices that pass routes on",
    "filters": "mirrors, faults, CORS",
    "generated": "drawn by hypothesis",
    "hosts": "hosts, services, gateways, visibility",
    "limits": "what a mesh on loopback can't do",
    "localities": "ranks and weights by locality",
    "matches": "conditions of routes",
    "policies": "DestinationRules",
    "routes": "actions of routes",
}


def page() -> str:
    """The page, in Markdown."""
    found = read()
    parts = (_HEAD.format(version=f"`{asked_version()}`"), *_figures(found), *_refusals(found), *_ignored())
    return "\n".join(parts) + "\n"


def figures(found: Sequence[Ended]) -> tuple[int, int, int, int, int]:
    """Cases, documents, equal, refused, different."""
    outcomes = [each.outcome for each in found]
    return (
        len(found),
        sum(each.documents for each in found),
        *(outcomes.count(outcome) for outcome in (Outcome.EQUAL, Outcome.REFUSED, Outcome.DIFFERENT)),
    )


def _figures(found: Sequence[Ended]) -> Iterator[str]:
    yield "## Figures\n"
    yield "| | cases | documents | translated and equal | refused with a reason | silently different |"
    yield "|---|---|---|---|---|---|"
    for group in sorted({each.group for each in found}):
        yield _line(_NAMES[group], [each for each in found if each.group == group])
    yield _line("**all**", found)
    cases, _, equal, *_ = figures(found)
    yield f"\n{equal / cases:.1%} of the cases are translated.\n"


def _line(name: str, found: Sequence[Ended]) -> str:
    return f"| {name} | " + " | ".join(f"{count:,}" for count in figures(found)) + " |"


def _refusals(found: Sequence[Ended]) -> Iterator[str]:
    yield "## Refused\n"
    yield "Nothing is ignored: a document that can't mean the same here is refused, with file, line and column.\n"
    yield "| case | why |"
    yield "|---|---|"
    for each in found:
        if each.outcome is Outcome.REFUSED:
            yield f"| {each.name}{f' ({each.about})' if each.about else ''} | {'<br>'.join(each.refused)} |"
    yield "\nThe whole list of fields is in [istio-support.md](istio-support.md).\n"


def _ignored() -> Iterator[str]:
    yield "## Not compared\n"
    yield "| what | in | why |"
    yield "|---|---|---|"
    yield from (f"| {each.what} | {each.where} | {each.why} |" for each in IGNORED)
