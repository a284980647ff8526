"""The bootstrap is what Envoy takes, and says what the rest of the mesh relies on."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from mesh.envoy.bootstrap import CLUSTER_NAME_TAG, Identity, bootstrap, command
from mesh.envoy.program import find_envoy

IDENTITY = Identity("sidecar~127.64.0.11~a.b~b.svc.cluster.local", "a.b", ("127.64.0.1", 9901), ("127.64.0.1", 9000))


@pytest.mark.envoy
async def test_envoy_takes_it(tmp_path: Path) -> None:
    file = tmp_path / "bootstrap.json"
    file.write_text(json.dumps(bootstrap(IDENTITY)))
    arguments = (*command(find_envoy(), str(file)), "--mode", "validate")
    process = await asyncio.create_subprocess_exec(*arguments, stderr=asyncio.subprocess.PIPE)
    _, said = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, said.decode()


def test_the_node_is_sent_once_a_stream_and_clusters_and_listeners_come_from_it() -> None:
    dynamic = bootstrap(IDENTITY)["dynamic_resources"]
    assert dynamic["ads_config"]["set_node_on_first_message_only"] is True
    for kind in ("cds_config", "lds_config"):
        assert dynamic[kind] == {"ads": {}, "resource_api_version": "V3", "initial_fetch_timeout": "0s"}


def test_everything_of_our_own_is_on_the_leased_loopback_net() -> None:
    addresses = re.findall(r'"address": "([^"]+)"', json.dumps(bootstrap(IDENTITY)))
    assert addresses == ["127.64.0.1", "127.64.0.1"]


@pytest.mark.parametrize(
    ("stat", "cluster"),
    [
        (
            "cluster.outbound|50051|v2|a.b.svc.cluster.local;.upstream_rq_total",
            "outbound|50051|v2|a.b.svc.cluster.local",
        ),
        ("cluster.inbound|50051||;.grpc.success", "inbound|50051||"),
        ("cluster.ads.upstream_rq_total", None),
    ],
)
def test_the_name_of_a_cluster_is_found_whole_in_its_statistics(stat: str, cluster: str | None) -> None:
    found = re.match(CLUSTER_NAME_TAG["regex"], stat)
    assert (found.group(2) if found else None) == cluster


def test_no_shared_memory_and_one_worker() -> None:
    line = " ".join(command("envoy", "b.json"))
    assert "--disable-hot-restart" in line
    assert "--concurrency 1 " in line
