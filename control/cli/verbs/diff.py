"""`tidegate diff`: which fields and lines of which document would the next step change? Nothing is written."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from control.cli.connection import controller, resolve, run
from control.cli.inputs import read_input
from control.cli.options import examples, name_argument, namespace_option, output_option
from control.cli.printing import emit, screen
from control.errors import NotFound, Refused
from control.settings import state_dir_option

if TYPE_CHECKING:
    from control.spec import TrafficShift
    from control.view.diff import DocumentChange
    from mesh.istio.document import Document
    from mesh.traffic import RouteRef


class ShareType(click.ParamType[Fraction]):
    """5%, 0.5% or 1/200; 0% too."""

    name = "share"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Fraction:
        from control.view.read import share

        found = value if isinstance(value, Fraction) else share(value)
        if found is None or not 0 <= found <= 1:
            return self.fail(f"{value!r} is not a share such as 5% or 1/200, from 0% to 100%", param, ctx)
        return found


@click.command(
    "diff",
    epilog=examples(
        "tidegate diff                            what the next step changes",
        "tidegate diff translator --to 0%         what a rollback changes",
        "tidegate diff --file shift.yaml --documents ./manifests    nothing needs to run",
    ),
)
@name_argument
@click.option("--to", type=ShareType(), metavar="SHARE", help="Compare with this share instead of the next step's.")
@click.option("--file", type=click.File("rb"), help="Read the shift from this file instead of the controller.")
@click.option(
    "--documents",
    type=click.Path(path_type=Path, exists=True),
    help="Folder or file with the mesh documents, instead of the running mesh's.",
)
@namespace_option
@output_option
@state_dir_option
def command(
    name: str,
    to: Fraction | None,
    file: BinaryIO | None,
    documents: Path | None,
    namespace: str,
    output: str,
    state_dir: Path,
) -> None:
    """Show which lines of which mesh document would change with the next step, and write nothing.

    Only weights of the shift's own routes ever change; every other byte of a document stays.
    """
    from control.spec import Mode
    from control.view.diff import diff_view, nothing_next
    from control.view.plan import first_step

    shift, ahead = _from_file(file) if file else run(_from_controller(state_dir, namespace, name))
    share = ahead if to is None else to
    if share is None:
        nothing = nothing_next(shift.name, first_step(shift.strategy))
        emit(nothing, output, screen("tables:diff_screen", nothing))
        return
    found = _documents(documents or state_dir / "documents")
    before, changes = _changes(shift, share, found)
    observes = shift.mode is Mode.OBSERVE
    view = diff_view(shift.name, from_share=before, to_share=share, changes=changes, observes=observes)
    emit(view, output, screen("tables:diff_screen", view))


def _from_file(file: BinaryIO) -> "tuple[TrafficShift, Fraction]":
    """The shift, and the share of its first step."""
    from control.cli.manifest import parsed
    from control.view.plan import first_step

    shift = parsed(*read_input(file))
    return shift, first_step(shift.strategy)


async def _from_controller(state_dir: Path, namespace: str, name: str) -> "tuple[TrafficShift, Fraction | None]":
    """The shift, and the share of its next step; None where it has none."""
    from control.spec import from_document
    from control.view.plan import next_share

    async with controller(state_dir) as client:
        shift = await resolve(client, namespace, name)
    asked = from_document({key: value for key, value in shift.document.items() if key != "status"})
    return asked, next_share(asked.strategy, shift.status)


def _documents(place: Path) -> "Sequence[Document]":
    from control.cli.failure import BadText
    from control.cli.mesh_files import read_files

    if not place.exists():
        raise NotFound(
            f"there are no mesh documents in {place}", "start a mesh with `tidegate up`, or give --documents"
        )
    files = read_files([place])
    if files.problems:
        raise BadText(files.problems, files.texts)
    return files.documents


def _changes(
    shift: "TrafficShift", share: Fraction, documents: "Sequence[Document]"
) -> "tuple[Fraction | None, list[DocumentChange]]":
    """The share that the first route has now, and each document before and after."""
    from control.view.diff import DocumentChange
    from mesh.istio.diff import diff
    from mesh.istio.document import read_documents
    from mesh.istio.problem import DocumentError
    from mesh.istio.weights import configured_share, route_view, splice, weight_patch

    by_key = {document.key: document for document in documents}
    split = shift.split(share)
    changes, before = [], []
    for ref in shift.target.routes:
        document = _document_of(ref, by_key)
        try:
            view = route_view(document, ref)
            patch = weight_patch(view, split)
            text = document.text if patch is None else splice(document, patch)
        except DocumentError as refused:
            raise Refused(refused.message, refused.hint) from None
        before.append(configured_share(view, split))
        texts = document.text.decode(), text.decode()
        place = str(ref), document.file, document.line_offset + 1
        changes.append(DocumentChange(*place, *texts, diff(document, read_documents(document.file, text)[0][0])))
    return (before[0] if before else None), changes


def _document_of(ref: "RouteRef", by_key: "dict[tuple[str, str, str], Document]") -> "Document":
    found = by_key.get(("VirtualService", ref.namespace, ref.virtual_service))
    if found is None:
        names = ", ".join(sorted(name for kind, _, name in by_key if kind == "VirtualService"))
        raise NotFound(f"there is no {ref}", f"there are: {names}" if names else "there is no VirtualService at all")
    return found
