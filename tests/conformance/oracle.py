"""What does a real istiod say to the whole corpus? All cases at once, each in its namespace, asked proxy by proxy."""

import asyncio
import time
from collections.abc import Sequence

import grpc

from tests.conformance import kube
from tests.conformance.ads import told
from tests.conformance.canonical import canonical
from tests.conformance.compare import Answers
from tests.conformance.corpus import WAVES, Case, Proxy, manifests
from tests.conformance.stack import Stack

SETTLES_WITHIN_S = 20
_LOOK_EVERY_S = 0.5
_SECOND_S = 1.1
"""Creation times count whole seconds."""


def answers(stack: Stack, found: Sequence[Case]) -> tuple[dict[str, Answers], kube.Refusals]:
    """Istiod's answers by case, and the documents that the API server refused."""
    refusals: kube.Refusals = {}
    wanted = 0
    for wave in range(1, WAVES + 1):
        written = manifests(found, wave)
        refusals |= asyncio.run(kube.put(stack, written))
        wanted += len(written)
        time.sleep(_SECOND_S)
    asyncio.run(kube.taken(stack, wanted - len(refusals)))
    try:
        with grpc.insecure_channel(stack.ads) as channel:
            return {case.name: _settled(channel, case) for case in found}, refusals
    finally:
        asyncio.run(kube.clear(stack, [each for wave in range(1, WAVES + 1) for each in manifests(found, wave)]))


def _settled(channel: grpc.Channel, case: Case) -> Answers:
    """The answers once two in a row are equal: istiod takes documents one by one, and pushes some of them later."""
    deadline = time.monotonic() + SETTLES_WITHIN_S
    return {proxy.kind: _stable(channel, case, proxy, deadline) for proxy in case.proxies}


def _stable(channel: grpc.Channel, case: Case, proxy: Proxy, deadline: float) -> dict[str, object]:
    before = canonical(told(channel, proxy), case)
    while (now := canonical(told(channel, proxy), case)) != before:
        if time.monotonic() > deadline:
            raise TimeoutError(f"istiod's answers to {proxy.name} of {case.name} keep changing")
        before = now
        time.sleep(_LOOK_EVERY_S)
    return dict(now)
