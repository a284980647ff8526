"""The README's picture: the summary of a demo, drawn from what it wrote with `--json`.

tidegate demo --json demo.json; python -m tests.support.demo_picture demo.json docs/demo.svg
"""

import io
import json
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from control.cli.live import render_summary
from control.cli.look import UNICODE, Look
from control.view.summary import summary_view

WIDTH = 100


def picture(seen: dict[str, object], title: str) -> str:
    """SVG text that loads nothing from elsewhere."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    summary = summary_view(seen["shift"], seen["history"], datetime.now(UTC))  # type: ignore[arg-type]
    console.print(render_summary(summary, seen["load"], Look(UNICODE, console)))  # type: ignore[arg-type]
    return re.sub(r"@font-face \{.*?\}|<!--.*?-->", "", console.export_svg(title=title), flags=re.DOTALL)


def main(source: Path, target: Path) -> None:
    target.write_text(picture(json.loads(source.read_text()), "make demo"), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
