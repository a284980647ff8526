"""Does our lint find what istioctl finds, and no mistake where there is none?"""

import json

import pytest

from mesh.istio.document import read_documents
from mesh.istio.lint import Level, lint
from mesh.istio.rules import broken_rules
from mesh.istio.support import unsupported
from tests.conformance import istioctl
from tests.conformance.corpus import Case
from tests.conformance.golden import digest

SAID = istioctl.kept()
OURS_ALONE = {
    "IST0101": "istioctl looks at subsets and gateways; a host or port that nobody declares ends in 503 as well",
    "IST0112": "istioctl doesn't know the ports of a ServiceEntry that is exported to its own namespace only",
}
"""Errors that istioctl doesn't find, and why they are errors."""
SAID_OTHERWISE = {"broken/host-twice": {"IST0109"}}
"""Errors that ours finds by another code: one host twice in one document is refused, not a conflict with itself."""
LIMITS = {
    "limit-every-port": "a Sidecar whose listeners nobody named would listen at every service's port",
    "match-claims": "nobody checks tokens on the local mesh",
}
"""Valid documents that a rule of the local mesh refuses, and why."""


def texts(case: Case) -> list[bytes]:
    return [json.dumps(each.manifest(created=True)).encode() for each in (*case.scene, *case.documents)]


def refused(case: Case) -> list[str]:
    """Everything that keeps the documents out: unreadable, fields and values, rules."""
    found = []
    for text in texts(case):
        documents, problems = read_documents("it.yaml", text)
        found += [str(problem) for problem in problems]
        found += [problem.message for document in documents for problem in unsupported(document)]
    return found or broken(case)


def broken(case: Case) -> list[str]:
    """Rules of the webhook that a case with supported fields breaks."""
    read = [document for text in texts(case) for document in read_documents("it.yaml", text)[0]]
    fine = [document for document in read if not unsupported(document)]
    return [problem.message for document in fine for problem in broken_rules(document)]


def errors(case: Case) -> set[str]:
    read = [document for text in texts(case) for document in read_documents("it.yaml", text)[0]]
    return {finding.code for finding in lint(read) if finding.level is Level.ERROR}


@pytest.mark.parametrize("name", istioctl.linted())
def test_lint_says_what_istioctl_says(name: str) -> None:
    case, said = istioctl.linted()[name], SAID[name]
    assert said.digest == digest(case), "the case has changed: `python -m tests.conformance --lint`"
    if not said.valid:
        assert refused(case)
    elif name not in LIMITS:
        assert broken(case) == []
    found = errors(case)
    assert set(said.errors) - found <= SAID_OTHERWISE.get(name, set())
    assert found - set(said.errors) <= {"IST0106", *OURS_ALONE}


def test_istioctl_was_asked_about_every_case() -> None:
    assert SAID.keys() == istioctl.linted().keys()


def test_the_exceptions_are_still_needed() -> None:
    assert all(broken(istioctl.linted()[name]) for name in LIMITS)
    assert all(set(SAID[name].errors) >= codes for name, codes in SAID_OTHERWISE.items())


@pytest.mark.cluster
def test_istioctl_still_says_so() -> None:
    assert istioctl.ask() == SAID
