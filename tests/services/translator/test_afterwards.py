"""What is done after the answer?"""

import asyncio

from services.runtime.call import begin_call, current_call
from services.translator.afterwards import AT_MOST, Afterwards
from tests.support.mesh_wait import until


async def test_it_runs_outside_of_the_call():
    seen = []

    async def work():
        seen.append(current_call())

    begin_call("/s/m", [], 1)
    afterwards = Afterwards()
    assert afterwards.start(work())
    await until(lambda: seen)
    assert seen == [None]
    await until(lambda: not afterwards.running)


async def test_when_too_much_waits_the_newest_is_dropped():
    gate = asyncio.Event()
    afterwards = Afterwards()
    assert all(afterwards.start(wait(gate)) for _ in range(AT_MOST))
    assert not afterwards.start(wait(gate))
    gate.set()
    await afterwards.close()
    assert not afterwards.running


async def wait(gate):
    await gate.wait()
