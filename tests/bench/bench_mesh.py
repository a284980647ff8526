"""How long from a weight patch to its acknowledgement by every Envoy that holds the route? And by 200 streams?

    python tests/bench/bench_mesh.py [--steps N] [--json FILE]

Real Envoys, the real API. A step is timed from the call of PatchWeights to the message of WatchRevision that names
every holder as acknowledged. Prints a table; benchmarks of one machine, compared with nothing but their aims.
"""

import asyncio
import json
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import jinja2
from tidegate.mesh.v1 import mesh_pb2

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from mesh.istio.document import read_documents  # noqa: E402
from mesh.istio.weights import route_view, weight_patch  # noqa: E402
from mesh.traffic import RouteRef, TrafficSplit  # noqa: E402
from mesh.xds.server import AdsServer  # noqa: E402
from mesh.xds.snapshot import Kind  # noqa: E402
from tests.mesh.xds.test_server import stepped  # noqa: E402
from tests.support.ads_client import ads_clients  # noqa: E402
from tests.support.mesh_running import RunningMesh, running_mesh  # noqa: E402

MANIFESTS = Path(__file__).resolve().parents[2] / "mesh" / "manifests" / "local"
STREAMS = 200
MORE_ROUTES = 49


@dataclass(frozen=True, slots=True)
class Row:
    """Quantiles in milliseconds. `aim` is what we want of p50 and p99, empty where there is none."""

    what: str
    times_ms: tuple[float, ...]
    aim: str

    @property
    def p50(self) -> float:
        return statistics.median(self.times_ms)

    @property
    def p99(self) -> float:
        return sorted(self.times_ms)[max(0, round(len(self.times_ms) * 0.99) - 1)]


def demo_documents() -> dict[str, str]:
    """The demo's documents with the net left open."""
    return {path.name.removesuffix(".j2"): with_open_net(path.read_text()) for path in MANIFESTS.glob("*.j2")}


def with_open_net(template: str) -> str:
    """A text whose net `str.format` fills in."""
    rendered = jinja2.Template(template).render(net="@NET@", gateway_port=8080)
    return rendered.replace("{", "{{").replace("}", "}}").replace("@NET@", "{net}")


def fifty_routes() -> dict[str, str]:
    """The demo's documents, the mesh's rule with 49 routes by method in front."""
    match = (
        '    - name: "method-{n}"\n      match: [{{{{uri: {{{{exact: "/tidegate.more.v1.Service/Method{n}"}}}}}}}}]\n'
        "      route: [{{{{destination: {{{{host: translator, subset: v1, port: {{{{number: 50051}}}}}}}}}}}}]\n"
    )
    more = "".join(match.format(n=n) for n in range(MORE_ROUTES))
    return {name: text.replace("  http:\n", "  http:\n" + more) for name, text in demo_documents().items()}


async def step(mesh: RunningMesh, name: str, share: Fraction) -> float:
    """Milliseconds from the call to the acknowledgement by every holder."""
    key = mesh_pb2.DocumentName(kind="VirtualService", namespace="default", name=name)
    got = await mesh.stub.GetDocuments(mesh_pb2.GetDocumentsRequest(kinds=["VirtualService"]), metadata=mesh.metadata)
    text = next(each for each in got.documents if each.name == key)
    view = route_view(read_documents(text.file, text.text)[0][0], RouteRef("default", name, "primary"))
    patch = weight_patch(view, TrafficSplit("translator.default.svc.cluster.local", "v1", "v2", share))
    assert patch is not None
    request = mesh_pb2.PatchWeightsRequest(
        name=key,
        route_index=patch.index,
        route_name="primary",
        expected=map(message, patch.expected),
        weights=patch.weights,
    )
    began = time.perf_counter()
    revision = (await mesh.stub.PatchWeights(request, metadata=mesh.metadata)).revision
    await mesh.acknowledged(name, revision)
    return (time.perf_counter() - began) * 1000


def message(destination: Any) -> Any:
    return mesh_pb2.DestinationWeight(
        host=destination.host, subset=destination.subset, port=destination.port or 0, weight=destination.weight
    )


async def envoys(what: str, documents: dict[str, str], steps: int, aim: str = "") -> Row:
    with tempfile.TemporaryDirectory() as folder:
        async with running_mesh(Path(folder), documents) as mesh:
            times = [await step(mesh, "edge", Fraction(n % 99 + 1, 100)) for n in range(steps)]
    return Row(what, tuple(times), aim)


async def streams(steps: int) -> Row:
    ads = AdsServer()
    address = await ads.start("127.0.0.1:0")
    nodes = [f"node-{n}" for n in range(STREAMS)]
    ads.publish(dict.fromkeys(nodes, stepped(0)))
    async with ads_clients(address, nodes, stepped(0)) as clients:
        times = [await step_of_streams(ads, nodes, weight) for weight in range(1, steps + 1)]
        assert all(len(client.heard[-1].bodies) == 1 for client in clients)
    await ads.stop()
    return Row(f"{STREAMS} ADS streams, one of 50 route configurations changed", tuple(times), "150")


async def step_of_streams(ads: AdsServer, nodes: list[str], weight: int) -> float:
    """Milliseconds until every node has acknowledged. Server and clients share this one process."""
    after = stepped(weight)
    wanted = after.of(Kind.ROUTE)["8007"].digest
    began, seen = time.perf_counter(), ads.heard.beats
    ads.publish(dict.fromkeys(nodes, after))
    while not all(ads.runs(node, Kind.ROUTE, "8007", wanted) for node in nodes):
        seen = await ads.heard.after(seen)
    return (time.perf_counter() - began) * 1000


async def measure(steps: int) -> list[Row]:
    return [
        await envoys("demo's documents, the gateway's rule", demo_documents(), steps, "p50 15, p99 50"),
        await envoys("the same with 50 routes a rule", fifty_routes(), steps),
        await streams(max(5, steps // 10)),
    ]


def table(rows: list[Row]) -> str:
    lines = [
        "| weight patch to acknowledged by all (ms) | steps | p50 | p99 | max | aim |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.what} | {len(row.times_ms)} | {row.p50:.1f} | {row.p99:.1f} | {max(row.times_ms):.1f} | {row.aim} |"
        for row in rows
    ]
    return "\n".join(lines)


@click.command()
@click.option("--steps", default=200, show_default=True)
@click.option("--json", "file", type=click.Path(path_type=Path))
def main(steps: int, file: Path | None) -> None:
    """Measure weight steps through the mesh."""
    rows = asyncio.run(measure(steps))
    click.echo(table(rows))
    found = [{"what": row.what, "p50_ms": row.p50, "p99_ms": row.p99, "steps": len(row.times_ms)} for row in rows]
    click.echo(json.dumps(found))
    if file:
        file.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
