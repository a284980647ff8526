"""A state on its way to a store: JSON for whoever writes it, and still the state for whoever keeps it in memory.

Making JSON of a state and a state of JSON is two fifths of what a look costs. A store that does not write at every look
spares both.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from control.engine.state import ShiftState


class StateJson(Mapping[str, Any]):
    """The JSON of a state, made when it is first asked for. Raises then: InvariantBroken when it does not fit."""

    def __init__(self, state: ShiftState) -> None:
        self.state = state

    @cached_property
    def whole(self) -> dict[str, Any]:
        return self.state.to_json()

    def __getitem__(self, name: str) -> Any:
        return self.whole[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.whole)

    def __len__(self) -> int:
        return len(self.whole)


def state_of(data: Mapping[str, Any]) -> ShiftState:
    """The state that this is the JSON of. Raises: InvariantBroken."""
    return data.state if isinstance(data, StateJson) else ShiftState.from_json(data)
