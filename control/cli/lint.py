"""What is wrong with these files? Mesh documents by mesh.istio, shifts by control.spec, and whether the two fit."""

from collections.abc import Iterator

from control.cli.mesh_files import MeshFiles, as_problems
from control.errors import Problem, SpecError
from control.spec import TrafficShift, parse_shift
from mesh.istio.problem import DocumentError
from mesh.istio.support import unsupported
from mesh.istio.weights import route_view, weight_patch


def lint(files: MeshFiles) -> tuple[Problem, ...]:
    """All problems, in the order of files and lines."""
    found = [*files.problems, *_document_problems(files), *_shift_problems(files)]
    return tuple(sorted(found, key=lambda each: (each.source, each.line, each.column, each.message)))


def _document_problems(files: MeshFiles) -> Iterator[Problem]:
    for document in files.documents:
        yield from as_problems(unsupported(document))


def _shift_problems(files: MeshFiles) -> Iterator[Problem]:
    for source in files.shifts:
        try:
            shift = parse_shift(files.texts[source], source)
        except SpecError as mistakes:
            yield from mistakes.problems
        else:
            yield from _misfits(shift, source, files)


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
            weight_patch(route_view(document, ref), shift.split(shift.strategy.steps[0]))
        except DocumentError as refused:
            yield Problem(source, 0, 0, refused.message, refused.hint)
