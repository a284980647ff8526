"""What happens to headers on a route? Istio's operations in the order in which Envoy applies them."""

from dataclasses import dataclass, field

from envoy_data_plane.envoy.config.core import v3 as core

from mesh.istio.views_virtual_service import HeaderOperations, Headers
from mesh.xds.translate.encode import make

_SET = core.HeaderValueOptionHeaderAppendAction.OVERWRITE_IF_EXISTS_OR_ADD
_ADD = core.HeaderValueOptionHeaderAppendAction.APPEND_IF_EXISTS_OR_ADD


@dataclass(frozen=True, slots=True)
class HeaderMutations:
    """The four lists that Envoy keeps at each level, and the authority that the operations ask for ("" for none)."""

    request_add: list[core.HeaderValueOption] = field(default_factory=list)
    request_remove: list[str] = field(default_factory=list)
    response_add: list[core.HeaderValueOption] = field(default_factory=list)
    response_remove: list[str] = field(default_factory=list)
    authority: str = ""

    def then(self, later: "HeaderMutations") -> "HeaderMutations":
        """These, and after them those of a level further in, as one level; the outer authority wins."""
        return HeaderMutations(
            self.request_add + later.request_add,
            self.request_remove + later.request_remove,
            self.response_add + later.response_add,
            self.response_remove + later.response_remove,
            self.authority or later.authority,
        )


def header_mutations(headers: Headers | None) -> HeaderMutations:
    """`set` before `add`, each sorted by name; pseudo headers and Host can't be touched, but move the authority."""
    if headers is None:
        return HeaderMutations()
    return HeaderMutations(
        _options(headers.request),
        _removed(headers.request),
        _options(headers.response),
        _removed(headers.response),
        _authority(headers.request),
    )


def _options(operations: HeaderOperations) -> list[core.HeaderValueOption]:
    return [
        make(core.HeaderValueOption, header=make(core.HeaderValue, key=name, value=value), append_action=action)
        for pairs, action in ((operations.set, _SET), (operations.add, _ADD))
        for name, value in pairs
        if not _is_internal(name)
    ]


def _removed(operations: HeaderOperations) -> list[str]:
    return [name for name in operations.remove if not _is_internal(name)]


def _authority(operations: HeaderOperations) -> str:
    named = [value for pairs in (operations.set, operations.add) for name, value in pairs if _is_authority(name)]
    return named[0] if named else ""


def _is_internal(name: str) -> bool:
    return name.startswith(":") or name.lower() == "host"


def _is_authority(name: str) -> bool:
    return name.lower() in (":authority", "host")
