from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli_control import Control, running_control


@pytest.fixture
def control(tmp_path: Path) -> Iterator[Control]:
    with running_control(tmp_path / "state") as running:
        yield running
