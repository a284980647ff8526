"""Whoever watches is told of each change, and of the last one for certain."""

import asyncio
from pathlib import Path

import pytest

from control.adapters.store.sqlite import SqliteStore
from control.errors import Conflict
from control.loop.feed import ChangeFeed, ObservedStore, ShiftKey, Subscription
from tests.support.control_time import NOON

A, B = ("default", "a"), ("default", "b")


async def taken(subscription: Subscription) -> list[ShiftKey]:
    return [key async for key in subscription]


async def test_every_subscription_is_told_each_key_once_until_it_takes_it() -> None:
    feed = ChangeFeed()
    one, two = feed.subscribe(), feed.subscribe()
    for key in (A, B, A, A):
        feed.publish(key)
    feed.close()
    assert [await taken(one), await taken(two)] == [[A, B], [A, B]]


async def test_a_subscription_that_waits_is_woken() -> None:
    feed = ChangeFeed()
    waiting = asyncio.ensure_future(anext(aiter(feed.subscribe())))
    await asyncio.sleep(0)
    feed.publish(A)
    assert await asyncio.wait_for(waiting, 5) == A


async def test_who_unsubscribed_is_told_nothing() -> None:
    feed = ChangeFeed()
    subscription = feed.subscribe()
    feed.unsubscribe(subscription)
    feed.publish(A)
    subscription.close()
    assert await taken(subscription) == []


async def test_the_observed_store_publishes_what_it_wrote_and_nothing_else(tmp_path: Path) -> None:
    feed = ChangeFeed()
    inner = await SqliteStore.open(tmp_path, NOON)
    store, seen = ObservedStore(inner, feed), feed.subscribe()
    version = await store.save(*A, spec={}, state={}, expect=0)
    await store.save(*B, spec={}, state={}, expect=0)
    with pytest.raises(Conflict):
        await store.save("default", "c", spec={}, state={}, expect=9)
    await store.record("default", "d", [{"n": 1}])
    assert await store.journal("default", "d") == [{"n": 1}]
    assert [each.name for each in await store.list()] == ["a", "b"]
    feed.close()
    assert await taken(seen) == [A, B]

    deletions = feed.subscribe()
    await store.delete(*A, expect=version)
    deletions.close()
    assert await taken(deletions) == [A]
    assert await store.load(*A) is None
    await inner.close()
