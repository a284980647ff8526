"""Does the page say what the table says?"""

from pathlib import Path

from mesh.istio.support_docs import page
from mesh.istio.support_table import TABLE

PAGE = Path(__file__).parents[3] / "docs" / "istio-support.md"


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text() == page(), "run: python -m mesh.istio.support_docs > docs/istio-support.md"


def test_every_refusal_and_every_kind_is_told() -> None:
    text = page()
    for kind, rows in TABLE.items():
        assert f"## {kind}\n" in text
        for row in rows:
            folded = "portLevelSettings[]." in row.path or row.path.startswith("spec.subsets[].trafficPolicy.")
            assert not row.refused or folded or f"| `{row.path}` | {row.refused} |" in text
