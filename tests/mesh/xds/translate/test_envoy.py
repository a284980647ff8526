"""Does a real Envoy take everything that the translation can say?"""

from pathlib import Path

import pytest

from mesh.xds.translate import check, node_resources, proxies
from tests.support.xlate_documents import client, service, to, virtual_service
from tests.support.xlate_envoy import envoy_objections
from tests.support.xlate_everything import everything


@pytest.mark.envoy
@pytest.mark.parametrize("proxy", ["edge.default", "client.default"])
async def test_envoy_takes_everything(proxy: str, tmp_path: Path) -> None:
    documents = everything()
    assert [str(problem) for problem in check(documents)] == []
    (node,) = [found for found in proxies(documents) if found.id == proxy]
    assert await envoy_objections(node_resources(documents, node), tmp_path) == ""


@pytest.mark.envoy
async def test_the_probe_hears_objections(tmp_path: Path) -> None:
    """Must fire: a sum of weights that Envoy refuses shows up."""
    documents = [
        *client(),
        service("shop"),
        virtual_service("shop", [{"route": [to("shop", weight=0), to("shop", weight=0)]}]),
    ]
    (node,) = proxies(documents)
    assert "weight" in await envoy_objections(node_resources(documents, node), tmp_path)
