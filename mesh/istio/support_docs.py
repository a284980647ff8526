"""What does the support table look like to a reader? `python -m mesh.istio.support_docs > docs/istio-support.md`"""

from collections.abc import Iterator, Sequence

from mesh.istio.support_table import TABLE, Field

_HEAD = """\
<!-- Made by `python -m mesh.istio.support_docs`; a test fails when it is stale. -->
# Istio's fields on the local mesh

The local mesh reads Istio's own documents and gives Envoys what istiod (1.30 and later, `INTERCEPTION_MODE=NONE`, plain
Envoy, no certificates) would give them: the same names, defaults and order. What stands here as supported does what it
does on a cluster. Everything else, a field that nobody knows included, is refused with file, line and column, and the
document with it; nothing is ignored. Rules of istiod's webhook (weights that sum to 0, a retry condition that doesn't
exist, two subsets of one name, ...) are checked too. All of it is held against a real istiod, field by field:
[conformance.md](conformance.md).

`[]` is a list, `{}` a map; **bold** fields are required where their parent stands.

Good to know:

- Several VirtualServices for one host are merged at gateways only. In the mesh the oldest one counts.
- A route's retry is made in the version that was drawn. Without `retries` a route repeats twice; `retries: {}` never.
- A service without an Envoy of its own is called directly. A workload has an Envoy when a Sidecar selects it.
- A Sidecar needs `egress`: without it istiod opens a listener for every service. `egress: [{hosts: ["~/*"]}]` is none.
- An egress listener with a port reaches services at that port only, whatever port a destination names: the rest is 503.
- Outlier detection ranks endpoints by locality at once, even where no rule speaks of localities.
- Several DestinationRules for one host are joined: all subsets, the first traffic policy. One that is exported to other
  namespaces only does not hold in its own.
- A delegate's block (header operations, too) replaces its root's as a whole.
- The mesh listens on loopback addresses only, and gateways, ingress and egress name theirs with `bind`.
- Hosts that the mesh doesn't know are passed on (`allow_any`); as nothing is intercepted that ends in 503, unless
  `outboundTrafficPolicy` is `REGISTRY_ONLY`, which answers 502.
"""
_GENERAL = ("apiVersion", "kind", "metadata", "status", "spec")
_MATCHERS = (".exact", ".prefix", ".regex")
_SAME = {
    "spec.subsets[].trafficPolicy": "as `spec.trafficPolicy`, block by block over it",
    "spec.trafficPolicy.portLevelSettings[].connectionPool": "as `spec.trafficPolicy.connectionPool`",
    "spec.trafficPolicy.portLevelSettings[].loadBalancer": "as `spec.trafficPolicy.loadBalancer`",
    "spec.trafficPolicy.portLevelSettings[].outlierDetection": "as `spec.trafficPolicy.outlierDetection`",
    "spec.trafficPolicy.portLevelSettings[].tls": "as `spec.trafficPolicy.tls`",
    "spec.ingress[].connectionPool": "as a DestinationRule's",
    "spec.inboundConnectionPool": "as a DestinationRule's",
    "spec.http[].route[].headers": "as `spec.http[].headers`",
}


def page() -> str:
    """The page, in Markdown."""
    return "\n".join([_HEAD, *(line for kind in TABLE for line in _kind(kind))]) + "\n"


def _kind(kind: str) -> Iterator[str]:
    rows = [
        row for row in TABLE[kind] if row.path.split(".")[0].removesuffix("{}") not in _GENERAL or "spec." in row.path
    ]
    yield from (f"## {kind}", "", "| field | value | |", "|---|---|---|")
    yield from (_row(row, rows) for row in rows if not row.refused and not _is_folded(row.path))
    refused = [row for row in rows if row.refused and not _is_folded(row.path)]
    if refused:
        yield from ("", "Refused:", "", "| field | why |", "|---|---|")
        yield from (f"| `{row.path}` | {row.refused} |" for row in refused)
    yield ""


def _is_folded(path: str) -> bool:
    """Is the field told by another row?"""
    return path.endswith(_MATCHERS) or any(path.startswith(f"{folded}.") for folded in _SAME)


def _row(row: Field, rows: Sequence[Field]) -> str:
    name = f"**`{row.path}`**" if row.required else f"`{row.path}`"
    is_match = any(other.path == f"{row.path}.exact" for other in rows)
    value = "exact, prefix or regex" if is_match else row.type.name.replace("|", "\\|")
    note = "; ".join(part for part in (_SAME.get(row.path, ""), row.note) if part)
    return f"| {name} | {value} | {note} |"


if __name__ == "__main__":
    print(page(), end="")
