"""Files that the docs send a reader to are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PLACE = re.compile(r"`((?:control|mesh|services|protos|tests|requirements)/[\w./-]+)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    named = set(PLACE.findall(page.read_text(encoding="utf-8")))
    assert [place for place in sorted(named) if not (ROOT / place).exists()] == []
