"""By how much did a counter grow? The rules for one series: new, grown, fallen, missing.

A row is the counts of one series in a fixed order, a mark the row as far as it has been used up.
"""

from collections.abc import Callable

from control.engine.cursor import UNKNOWN, Key, Row, Rows
from control.engine.readings import Reading

MOST_GONE, GONE_AFTER = 64, 60
"""Marks of series that have not answered for so many looks are kept for so many of them, in case that they come
back.
"""

Growth = Callable[[Row | None, Row, bool], tuple[Row, Row]]
"""From the mark (None: a new series), the row now, and whether its stratum is known, to what is new and the new
mark.
"""


def kept(before: Rows, read: Rows, reading: Reading) -> dict[Key, Row]:
    """Marks of series that this reading does not have: it may be that they answer again.

    A process that gave way to another of the same proxy is gone for good. Others are kept as long as there is room.
    """
    alive = {key[1] for key in read}
    proxies = {_proxy(process) for process in alive if "#" in process}
    missing = {key: mark for key, mark in before.items() if key not in read}
    stay = {key: mark for key, mark in missing.items() if key[1] in alive or _proxy(key[1]) not in proxies}
    unread = {*reading.unread}
    aged = {key: mark if unread & {*key[1:]} else (mark[0] + 1, *mark[1:]) for key, mark in stay.items()}
    gone = sorted((key for key in aged if aged[key][0] > GONE_AFTER), key=lambda key: (aged[key][0], key))
    forgotten = {*gone[MOST_GONE:]}
    return {key: mark for key, mark in aged.items() if key not in forgotten}


def _proxy(process: str) -> str:
    """Example: the incarnation "gateway#7" is one of the proxy "gateway"."""
    return process.partition("#")[0]


def of_requests(mark: Row | None, now: Row, known: bool) -> tuple[Row, Row]:
    """Requests, failures, retries, abandoned and started; and the mark, of which the last number is how many requests
    in flight were counted as started.

    `abandoned` and `in flight` may dip, since a source may work them out from counters that it reads one after the
    other: what a dip hides counts once.
    """
    flying = max(now[4], 0)
    if mark is None and not known:
        return (0,) * 5, now
    if mark is None or fell(mark[:3], now[:3]):
        return (*now[:4], now[0] + now[3] + flying), now
    ended = tuple(new - old for new, old in zip(now[:3], mark[:3], strict=True))
    left = max(0, now[3] - mark[3])
    started, ahead = _started(ended[0] + left, mark[4], now[4])
    return (*ended, left, started), (*now[:3], max(now[3], mark[3]), ahead)


def _started(ended: int, ahead: int, flying: int) -> tuple[int, int]:
    """Requests that began since the mark, and how many of them are counted ahead of their end.

    Example: 5 ended, 3 in flight then, 4 now: 6 began. 1 ended, 3 then, 0 now: the gauge has dipped: none began, and
    1 of those to come has been counted.
    """
    if flying == UNKNOWN or ahead == UNKNOWN:
        return ended, max(flying, ahead)
    began = ended + flying - ahead
    return (began, flying) if began >= 0 else (0, min(ahead - ended, flying + ended))


def restarts(mark: Row | None, now: Row, known: bool) -> tuple[Row, Row]:
    """Counts that fall began anew: all of them is new."""
    if mark is None:
        return (now if known else nothing(now)), now
    return (now if fell(mark, now) else difference(mark, now)), now


def neutral(mark: Row | None, now: Row, known: bool) -> tuple[Row, Row]:
    """Counts that fall say nothing: a sum falls when a part of it goes, and is no smaller traffic."""
    if mark is None:
        return (now if known else nothing(now)), now
    return (nothing(now) if fell(mark, now) else difference(mark, now)), now


def fell(mark: Row, now: Row) -> bool:
    """Did any count fall that is known of both?"""
    return any(UNKNOWN < new < old for old, new in zip(mark, now, strict=False))


def nothing(now: Row) -> Row:
    return (0,) * len(now)


def difference(mark: Row, now: Row) -> Row:
    pairs = zip(mark, now, strict=True)
    return tuple(UNKNOWN if UNKNOWN in (old, new) else new - old for old, new in pairs)


def plus(left: Row, right: Row) -> Row:
    return tuple(UNKNOWN if UNKNOWN in (one, other) else one + other for one, other in zip(left, right, strict=True))
