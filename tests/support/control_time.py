"""A clock that stands still until it is told to move."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@dataclass
class StillClock:
    at: datetime = NOON

    def now(self) -> datetime:
        return self.at

    def move(self, by: timedelta) -> None:
        self.at += by
