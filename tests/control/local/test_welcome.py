"""What is a person told when the mesh is up?"""

from pathlib import Path

import pytest

from control.local.manifests import SHIFT
from control.local.runfile import RunFile
from control.local.up import welcome

RUN = RunFile(1, "127.0.0", "127.0.0.2:8080", "127.0.0.1:1", "127.0.0.1:2", "/x/token", {})


@pytest.mark.parametrize(
    ("folder", "typed"),
    [(SHIFT.parents[2], "mesh/manifests/translator-shift.yaml"), (Path("/"), str(SHIFT)[1:]), (None, str(SHIFT))],
    ids=["in the checkout", "above it", "elsewhere"],
)
def test_the_shift_can_be_applied_as_it_is_typed(
    folder: Path | None, typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder or tmp_path)
    assert f"tidegate apply {typed} " in welcome(RUN)
    assert Path(typed).exists()


def test_notices_come_first() -> None:
    run = RunFile(*(getattr(RUN, name) for name in RunFile.__dataclass_fields__ if name != "notices"), ["mind the gap"])
    assert welcome(run).startswith("Note: mind the gap\nThe mesh runs on 127.0.0.0/24")
