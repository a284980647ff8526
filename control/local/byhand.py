"""What does a mesh look like that somebody else controls? Weights written into its files, and whether they are still
the same afterwards.
"""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from control.spec import TrafficShift
from mesh.istio.document import read_documents
from mesh.istio.weights import replace_document, route_view, splice, weight_patch
from mesh.traffic import RouteRef, TrafficSplit

Texts = Mapping[str, bytes]


def texts(documents: Path) -> Texts:
    """File name -> its bytes."""
    return {path.name: path.read_bytes() for path in sorted(documents.iterdir()) if path.is_file()}


def split_by_hand(documents: Path, shift: TrafficShift, share: Fraction) -> None:
    """Gives the canary this share on the shift's routes, as an editor would: in the files."""
    split = TrafficSplit(shift.host, shift.stable, shift.canary, share)
    for name, before in texts(documents).items():
        after = before
        for ref in shift.target.routes:
            after = _given(name, after, ref, split)
        if after != before:
            (documents / name).write_bytes(after)


def _given(name: str, raw: bytes, ref: RouteRef, split: TrafficSplit) -> bytes:
    """The file with the split on one route, if that stands in it."""
    key = ("VirtualService", ref.namespace, ref.virtual_service)
    for document in (each for each in read_documents(name, raw)[0] if each.key == key):
        patch = weight_patch(route_view(document, ref), split)
        return raw if patch is None else replace_document(raw, document, splice(document, patch))
    return raw
