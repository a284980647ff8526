"""What do whole folders become? Plain YAML in, plain YAML out; `pytest --force-regen` writes it anew for review."""

from pathlib import Path
from typing import Any

import pytest
from pytest_regressions.data_regression import DataRegressionFixture

from mesh.istio.document import read_documents
from mesh.xds.translate import check, node_resources, proxies
from tests.support.xlate_envoy import as_json

FOLDER = Path(__file__).parents[3] / "golden" / "xlate"
CASES = sorted(path.name for path in FOLDER.iterdir())


def translated(case: str) -> dict[str, Any]:
    """Every proxy's resources in protobuf's JSON form."""
    documents, problems = read_documents("documents.yaml", (FOLDER / case / "documents.yaml").read_bytes())
    assert not problems
    assert not check(documents)
    found: dict[str, Any] = {}
    for node in proxies(documents):
        held = node_resources(documents, node)
        groups = {
            "clusters": held.clusters,
            "endpoints": held.endpoints,
            "listeners": held.listeners,
            "routes": held.routes,
        }
        found[node.node_id] = {group: [as_json(item) for item in items.values()] for group, items in groups.items()}
    return found


@pytest.mark.parametrize("case", CASES)
def test_resources(case: str, data_regression: DataRegressionFixture) -> None:
    data_regression.check(translated(case), fullpath=FOLDER / case / "resources.yaml")
