"""The pages that are made from tables say what the tables say, and every link between pages leads somewhere."""

import re
from pathlib import Path

import pytest

from tests.support.generated_docs import DOCS, PAGES

WRITTEN = sorted(DOCS.rglob("*.md"))


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_fresh(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), "run `make docs` and commit"


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(DOCS)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(((?!https?:|#)[^)#\s]+)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if not (page.parent / link).exists()]
    assert missing == []
