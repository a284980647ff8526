"""The runner's state without Envoys: what is live, what a patch leads to, what stands in its way."""

import asyncio
import socket
from fractions import Fraction
from pathlib import Path

import pytest

from mesh.istio.problem import DocumentKey, StalePatch
from mesh.istio.weights import WeightPatch, route_view, weight_patch
from mesh.istio.world import Content, Unreadable
from mesh.runner.folder import Folder
from mesh.runner.live import LiveMesh, NoSuchDocument
from mesh.runner.main import advise, follow_folder, take_in
from mesh.traffic import RouteRef, TrafficSplit
from mesh.xds.server import AdsServer
from tests.support.mesh_running import DOCUMENTS, ECHO, GATEWAY, ROUTES, RULE
from tests.support.mesh_wait import until

EDGE: DocumentKey = ("VirtualService", "default", "edge")


def files(**changes: str) -> dict[str, bytes]:
    texts = {**DOCUMENTS, **{f"{name}.yaml": text for name, text in changes.items()}}
    return {name: text.format(net="127.64.0").encode() for name, text in texts.items()}


def live(**changes: str) -> LiveMesh:
    mesh = LiveMesh(AdsServer())
    mesh.apply(files(**changes))
    return mesh


def patch(mesh: LiveMesh, share: Fraction, name: str = "edge") -> WeightPatch:
    document = mesh.document(("VirtualService", "default", name))
    view = route_view(document, RouteRef("default", name, "primary"))
    found = weight_patch(view, TrafficSplit(ECHO, "v1", "v2", share))
    assert found is not None
    return found


def test_documents_make_proxies_and_say_who_holds_what() -> None:
    mesh = live()
    assert mesh.problems() == ()
    assert set(mesh.held) == {"ingress.default", "caller.default"}
    state = mesh.revision_state(EDGE, mesh.document(EDGE).revision)
    assert (state.current, state.holders, state.acknowledged) == (True, ("ingress.default",), ())


def test_the_same_files_again_change_nothing() -> None:
    mesh = live()
    assert mesh.apply(files()) == ()


def test_a_patch_changes_one_route_of_the_holders_and_nothing_of_the_others() -> None:
    mesh = live()
    before = dict(mesh.held)
    prepared = mesh.prepare(EDGE, patch(mesh, Fraction(1, 5)))
    assert mesh.held == before
    assert prepared.content is not None
    assert b"weight: 80" in prepared.content
    mesh.commit(prepared)
    assert mesh.document(EDGE).revision == prepared.revision
    assert mesh.held["caller.default"].snapshot is before["caller.default"].snapshot
    old, new = before["ingress.default"].resources, mesh.held["ingress.default"].resources
    assert (old.clusters, old.endpoints, old.listeners) == (new.clusters, new.endpoints, new.listeners)
    assert old.routes != new.routes
    assert not mesh.revision_state(EDGE, before["ingress.default"].node.id).current


def test_a_patch_made_for_other_weights_is_stale() -> None:
    mesh = live()
    old = patch(mesh, Fraction(1, 5))
    mesh.commit(mesh.prepare(EDGE, old))
    with pytest.raises(StalePatch):
        mesh.prepare(EDGE, old)


def test_a_patch_of_what_is_not_there_names_what_is() -> None:
    mesh = live()
    with pytest.raises(NoSuchDocument, match=r"no VirtualService default/none is live; there are: default/e"):
        mesh.prepare(("VirtualService", "default", "none"), patch(mesh, Fraction(1, 5)))


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param("kind: [no end", id="its file is no YAML"),
        pytest.param(ROUTES.replace("hosts: [echo.example.com]", "hosts: 7"), id="it is refused itself"),
        pytest.param(ROUTES.replace("name: edge", "nam: edge"), id="it lost its name"),
    ],
)
def test_a_broken_file_does_not_stop_a_patch_of_its_last_good_version(broken: str) -> None:
    mesh = live()
    mesh.apply(files(routes=broken))
    assert mesh.problems()
    others = {document.key: document.text for document in mesh.world.documents if document.key != EDGE}
    prepared = mesh.prepare(EDGE, patch(mesh, Fraction(1)))
    assert prepared.content is None
    mesh.commit(prepared)
    assert b"weight: 100" in mesh.document(EDGE).text.split(b"v2")[1]
    assert {document.key: document.text for document in mesh.world.documents if document.key != EDGE} == others
    assert mesh.problems()


def test_a_file_that_can_not_be_read_does_not_stop_a_patch_of_its_last_good_version() -> None:
    mesh = live()
    mesh.apply({**files(), "routes.yaml": Unreadable("not a regular file")})
    prepared = mesh.prepare(EDGE, patch(mesh, Fraction(1)))
    assert prepared.content is None
    mesh.commit(prepared)
    assert b"weight: 100" in mesh.document(EDGE).text.split(b"v2")[1]


def test_new_problems_and_what_went_are_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    mesh = live()
    changed: dict[str, Content] = {**files(), "pipe.yaml": Unreadable("not a regular file")}
    del changed["caller.yaml"]
    take_in(changed, mesh)
    assert capsys.readouterr().err.splitlines() == [
        "no longer in the folder, so no longer live: Sidecar default/caller, WorkloadEntry default/caller",
        "pipe.yaml: not a regular file (its documents stay as they were)",
    ]
    take_in({**changed, "rule.yaml": files()["rule.yaml"] + b"\n"}, mesh)
    assert capsys.readouterr().err == ""


async def test_while_the_folder_is_away_everything_stays_and_then_it_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "mesh"
    root.mkdir()
    for name, text in files().items():
        (root / name).write_bytes(text)
    folder, mesh, told = Folder(root), LiveMesh(AdsServer()), ""
    mesh.apply(folder.read())

    def heard(words: str) -> bool:
        nonlocal told
        told += capsys.readouterr().err
        return words in told

    following = asyncio.create_task(follow_folder(folder, mesh))
    root.rename(tmp_path / "moved")
    await until(lambda: heard("mesh is not there: everything that is live stays, until it is back"))
    assert set(mesh.held) == {"ingress.default", "caller.default"}
    (tmp_path / "moved/caller.yaml").unlink()
    (tmp_path / "moved").rename(root)
    await until(lambda: set(mesh.held) == {"ingress.default"})
    assert heard("mesh is back")
    following.cancel()


def test_a_broken_document_beside_it_does_not_stop_a_patch_on_disk() -> None:
    mesh = live()
    mesh.apply(files(routes=ROUTES.replace("hosts: [echo]", "hosts: 7")))
    assert mesh.problems()
    prepared = mesh.prepare(EDGE, patch(mesh, Fraction(1)))
    assert prepared.content is not None
    assert b"hosts: 7" in prepared.content


def test_a_rule_for_a_subset_that_nobody_declares_waits_for_it() -> None:
    mesh = live()
    v3 = ROUTES.replace("subset: v2", "subset: v3")
    mesh.apply(files(routes=v3))
    assert [problem.message for problem in mesh.problems()] == [
        f"no DestinationRule gives {ECHO} a subset v3",
        f"no DestinationRule gives {ECHO} a subset v3",
    ]
    assert b"subset: v2" in mesh.document(EDGE).text
    mesh.apply(files(routes=v3, rule=RULE + "    - {{name: v3, labels: {{version: v3}}}}\n"))
    assert mesh.problems() == ()
    assert b"subset: v3" in mesh.document(EDGE).text


def test_changes_are_told_from_a_beat_on_each_once() -> None:
    mesh = live()
    seen = mesh.changed.beats
    for share in (Fraction(1, 5), Fraction(1, 2)):
        mesh.commit(mesh.prepare(EDGE, patch(mesh, share)))
    assert mesh.changes_after(seen) == [EDGE]
    assert mesh.changes_after(mesh.changed.beats) == []


def test_what_can_not_be_translated_leaves_everything_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    mesh = live()
    before = (mesh.world, mesh.held)
    take_in({"a.yaml": None}, mesh)  # type: ignore[dict-item]
    assert (mesh.world, mesh.held) == before
    assert "a bug: this change could not be taken in" in capsys.readouterr().err


def test_a_new_listener_of_a_taken_port_is_refused_alone_and_tried_again() -> None:
    mesh = live()
    mesh.guard()
    with socket.create_server(("127.64.0.2", 0)) as foreign:
        port = foreign.getsockname()[1]
        moved = files(gateway=GATEWAY.replace("8080", str(port)), rule=RULE + "\n")
        mesh.apply(moved)
        [problem] = mesh.problems()
        assert problem.message == f"127.64.0.2:{port} is taken by another program"
        assert mesh.port_refused
        assert ("127.64.0.2", 8080) in mesh.addresses()
        assert mesh.document(("DestinationRule", "default", "echo")).text.endswith(b"\n\n")
        mesh.commit(mesh.prepare(EDGE, patch(mesh, Fraction(1, 5))))
    mesh.apply(mesh.known_files())
    assert (mesh.problems(), mesh.port_refused) == ((), False)
    assert ("127.64.0.2", port) in mesh.addresses()


def test_a_new_workload_whose_port_is_taken_does_not_blame_one_that_lives() -> None:
    mesh = live()
    mesh.guard()
    text = DOCUMENTS["caller.yaml"].replace("caller", "second").replace("{net}.20", "{net}.21")
    with socket.create_server(("127.64.0.21", 0)) as foreign:
        port = foreign.getsockname()[1]
        services = DOCUMENTS["workloads.yaml"].replace("50051", str(port))
        routes, caller = (DOCUMENTS[name].replace("50051", str(port)) for name in ("routes.yaml", "caller.yaml"))
        mesh.apply(files(workloads=services, routes=routes, caller=caller))
        assert mesh.problems() == ()
        mesh.apply(files(workloads=services, routes=routes, caller=caller, second=text.replace("50051", str(port))))
        assert [problem.document for problem in mesh.problems()] == [("Sidecar", "default", "second")]
        assert set(mesh.held) == {"ingress.default", "caller.default"}


def test_what_documents_probably_do_not_mean_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    advise(live())
    assert capsys.readouterr().err == ""
    advise(live(rule=RULE + "    - {{name: v3, labels: {{version: v3}}}}\n"))
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("rule.yaml:10:")
    assert line.endswith("[warning IST0173 empty-subset]")
