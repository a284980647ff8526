"""Which process is which? Places for the processes that serve, kept over restarts, and their warm-up windows.

Processes come and go; the evidence tells at most eight of a version apart. Each takes the place of one that is gone, or
a new one; place 8 is folded into place 0, and so on. So a process that crashes and comes back under another name keeps
its place, and a place is given at most two warm-up windows: who restarts over and over is not warming up.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from control.engine.cursor import Place, Places

SLOTS = 8
MOST_WINDOWS = 2


def seated(
    places: Places, serving: Mapping[str, int], at: datetime, *, began_anew: Collection[str] = (), first: bool = False
) -> Places:
    """The places with all that serve now. Units: `serving` is how much each process has served since it began.

    `began_anew` are processes whose counts fell. At the very first reading nobody knows when a process began to serve:
    one that had traffic by then is taken to be warm.
    """
    found = [replace(each, served=False, opened=None) if each.process in began_anew else each for each in places]
    for process in sorted(serving.keys() - {each.process for each in places}):
        _take(found, process, serving)
    return tuple(_warmed(each, serving.get(each.process, 0), at, first=first) for each in found)


def _take(places: list[Place], process: str, serving: Mapping[str, int]) -> None:
    """The process takes the first place whose own is gone, with the windows that were used up there; else a new one."""
    for number, place in enumerate(places):
        if place.process not in serving:
            places[number] = Place(process, windows=place.windows)
            return
    places.append(Place(process))


def _warmed(place: Place, served: int, at: datetime, *, first: bool) -> Place:
    """The place with its window opened, if this is its process's first traffic."""
    if place.served or not served:
        return place
    if first or place.windows >= MOST_WINDOWS:
        return replace(place, served=True)
    return replace(place, served=True, windows=place.windows + 1, opened=at)


def slots(places: Places) -> dict[str, int]:
    """Which slot of the evidence each process is counted in."""
    return {each.process: number % SLOTS for number, each in enumerate(places)}


def warm_until(places: Places, window: timedelta, at: datetime) -> datetime | None:
    """When the last process that is warming up now will be warm; None when none is.

    A window that would begin only later was opened by a clock that has been set back since, and is over.
    """
    opened = (each.opened for each in places if each.opened is not None and each.opened <= at)
    return max((since + window for since in opened if at < since + window), default=None)
