"""The manifests that are made from the product's own models. `make docs` writes them; a test notices a stale one."""

from collections.abc import Callable
from pathlib import Path

import yaml

from control.spec.crd import definition
from tests.support.generated_chart import CHART

ROOT = Path(__file__).parents[2]
MANIFESTS = ROOT / "mesh" / "manifests"
HEADER = "# Made from the models of control/spec by `make docs`.\n"


def crd_text() -> str:
    return HEADER + yaml.safe_dump(definition(), sort_keys=False, width=120, allow_unicode=True)


FILES: dict[str, Callable[[], str]] = {
    "kubernetes/base/crd.yaml": crd_text,
    **{f"helm/tidegate/{name}": text for name, text in CHART.items()},
}
"""By path below mesh/manifests."""


def main() -> None:
    for name, text in FILES.items():
        path = MANIFESTS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(), encoding="utf-8")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
