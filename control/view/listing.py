"""What does one line of the list of shifts say?"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from control.view.model import ListRow
from control.view.shift import shift_view


def list_row(document: Mapping[str, Any], now: datetime) -> ListRow:
    view = shift_view(document, (), now)
    return ListRow(
        namespace=view.namespace,
        name=view.name,
        phase=f"{view.phase} (observes)" if view.observes else view.phase,
        tone=view.tone,
        step=f"{view.step}/{view.total_steps}",
        share=" / ".join(share.text for share in view.shares[:3]),
        verdict=view.verdict,
        waiting=" ".join(
            part for part in (view.waiting.sentence, f"({view.waiting.left})" if view.waiting.left else "") if part
        ),
        age=view.started,
    )
