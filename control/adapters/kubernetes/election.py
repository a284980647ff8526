"""Which of several controllers looks at shifts? The one that holds the Lease; the library elects it.

A leader that was stopped for longer than its lease and goes on must not write: it asks the monotonic clock, which no
step of the wall clock moves and which goes on while a process is stopped, whether its last renewal still holds. The
guards of its patches refuse what slips between that question and the write.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import aiohttp
import structlog
from kubernetes.aio import client
from kubernetes.aio.client.exceptions import ApiException
from kubernetes.aio.leaderelection.electionconfig import Config
from kubernetes.aio.leaderelection.leaderelection import LeaderElection
from kubernetes.aio.leaderelection.resourcelock.leaselock import LeaseLock

TRIES_OF_A_LEASE = 3
FOR_EVER_MS = 2**62


@dataclass(frozen=True, slots=True)
class LeaseSpec:
    """Who stands for election, where, and how long a lease holds (`lasts_s`, at least 3 seconds)."""

    identity: str
    namespace: str
    name: str = "tidegate"
    lasts_s: int = 15


class Leadership:
    """Stands for election until cancelled, and leads whenever it is elected."""

    def __init__(self, library: client.ApiClient, spec: LeaseSpec) -> None:
        self._spec = spec
        self._lock = _Lock(spec.name, spec.namespace, spec.identity, library)
        self._log: Any = structlog.get_logger("control")
        self.leads = asyncio.Event()

    def holds(self) -> bool:
        """Is the lease surely ours at this moment?"""
        return self.leads.is_set() and time.monotonic() < self._lock.renewed_at + self._spec.lasts_s

    async def run(self, work: Callable[[], Awaitable[None]]) -> None:
        """Does `work` while leading; an error in it ends the run. Losing the lease cancels it and stands again."""
        while True:
            failed: list[BaseException] = []
            await _Election(self._config(work, failed)).run()
            if failed:
                raise failed[0]
            self._log.warning("lost the lease", lease=self._spec.name, identity=self._spec.identity)

    def _config(self, work: Callable[[], Awaitable[None]], failed: list[BaseException]) -> Config:
        async def lead() -> None:
            self.leads.set()
            self._log.info("leads", lease=self._spec.name, identity=self._spec.identity)
            try:
                await work()
            except Exception as error:
                failed.append(error)
                self._lock.give_up()
                raise
            finally:
                self.leads.clear()

        async def stopped() -> None:
            self.leads.clear()

        third = max(self._spec.lasts_s / TRIES_OF_A_LEASE, 1.0)
        return Config(self._lock, self._spec.lasts_s, max(self._spec.lasts_s - third, 1.3), third, lead, stopped)


class _Election(LeaderElection):
    """The library's, which compares times of the wall clock to see whether a lease that it saw still holds.

    That clock may be set. Then a waiting controller would take the lease of one that lives, or wait an hour for that of
    one that is dead. So what it compares with is answered by the clock that nobody sets.
    """

    @property
    def observed_time_milliseconds(self) -> int:
        """For ever away while what was seen holds, long ago afterwards."""
        holds = time.monotonic() < self._seen_at + self.election_config.lease_duration
        return FOR_EVER_MS if holds else 0

    @observed_time_milliseconds.setter
    def observed_time_milliseconds(self, now_ms: int) -> None:
        self._seen_at = time.monotonic() if now_ms else float("-inf")


class _Lock(LeaseLock):
    """The library's lock, whose calls answer "no" where no API server answers, and which knows when it was renewed."""

    def __init__(self, name: str, namespace: str, identity: str, library: client.ApiClient) -> None:
        super().__init__(name, namespace, identity, library)
        self.renewed_at = float("-inf")
        self._given_up = False

    def give_up(self) -> None:
        """Renews no more."""
        self._given_up = True

    async def get(self, name: str, namespace: str) -> Any:
        status, record = await _answered(super().get(name, namespace), self._no_answer)
        if status and getattr(record, "holder_identity", None) != self.identity:
            self.renewed_at = float("-inf")  # whatever was renewed: it is somebody else's now
        return status, record

    async def create(self, name: str, namespace: str, election_record: Any) -> bool:
        return await self._renewed(self._create(name, namespace, election_record))

    async def update(self, name: str, namespace: str, updated_record: Any) -> bool:
        if self._given_up:
            return False
        return await self._renewed(super().update(name, namespace, updated_record))

    async def _create(self, name: str, namespace: str, election_record: Any) -> bool:
        """As the library's, which asks for `pretty=True` and is refused by its own check of types (37.0)."""
        lease = client.V1Lease(metadata=client.V1ObjectMeta(name=name), spec=self.update_lease(election_record))
        try:
            await self.api_instance.create_namespaced_lease(namespace, lease)
        except ApiException:
            return False
        return True

    async def _renewed(self, call: Awaitable[bool]) -> bool:
        began = time.monotonic()
        done = bool(await _answered(call, lambda _error: False))
        if done:
            self.renewed_at = began
        return done

    @staticmethod
    def _no_answer(error: Exception) -> tuple[bool, ApiException]:
        return False, ApiException(status=0, reason=str(error) or type(error).__name__)


async def _answered(call: Awaitable[Any], otherwise: Callable[[Exception], Any]) -> Any:
    try:
        return await asyncio.wait_for(call, 5.0)
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        return otherwise(error)
