"""What is wrong with these files? Mesh documents by mesh.istio, shifts by control.spec, and whether the two fit."""

from collections.abc import Iterator
from dataclasses import dataclass

from control.cli.mesh_files import MeshFiles, as_problem
from control.errors import Problem, SpecError
from control.spec import TrafficShift, parse_shift
from mesh.istio import lint as mesh_lint
from mesh.istio.lint import Level
from mesh.istio.problem import DocumentError
from mesh.istio.weights import route_view, weight_patch


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at. `code` names the rule: Istio's own where Istio has one."""

    level: Level
    code: str
    problem: Problem


def lint(files: MeshFiles) -> tuple[Finding, ...]:
    """All findings, in the order of files and lines."""
    unread = [Finding(Level.ERROR, "unreadable", problem) for problem in files.problems]
    found = [*unread, *_document_findings(files), *_shift_findings(files)]
    return tuple(sorted(found, key=_place))


def _place(finding: Finding) -> tuple[str, int, int, str]:
    problem = finding.problem
    return problem.source, problem.line, problem.column, problem.message


def _document_findings(files: MeshFiles) -> Iterator[Finding]:
    for found in mesh_lint.lint(files.documents):
        yield Finding(found.level, found.code, as_problem(found.problem))


def _shift_findings(files: MeshFiles) -> Iterator[Finding]:
    for source in files.shifts:
        try:
            shift = parse_shift(files.texts[source], source)
        except SpecError as mistakes:
            yield from (Finding(Level.ERROR, "spec", problem) for problem in mistakes.problems)
        else:
            yield from (Finding(Level.ERROR, "misfit", problem) for problem in _misfits(shift, source, files))


def _misfits(shift: TrafficShift, source: str, files: MeshFiles) -> Iterator[Problem]:
    """Routes that the documents lack, and routes without a destination for one of the versions.

    Without a single VirtualService among the files there is nothing to fit.
    """
    services = {document.key: document for document in files.documents if document.kind == "VirtualService"}
    for ref in shift.target.routes if services else ():
        document = services.get(("VirtualService", ref.namespace, ref.virtual_service))
        if document is None:
            names = ", ".join(sorted(name for _, _, name in services))
            yield Problem(source, 0, 0, f"there is no {ref}", f"there are: {names}")
            continue
        try:
            weight_patch(route_view(document, ref), shift.split(shift.strategy.shares[0]))
        except DocumentError as refused:
            yield Problem(source, 0, 0, refused.message, refused.hint)
