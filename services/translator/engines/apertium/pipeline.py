"""How do many texts go through one warm process group without ever reaching the wrong caller?

The stages are started once, joined by pipes, in one process group, without a shell. A text is written between two
nonces and ends in NUL; answers come in the order of the questions, and an answer that does not begin and end with its
own nonce proves that the two ends are out of step. Then, and when an answer is late, a stage dies or the stream ends,
the whole group is killed and every question in flight fails: a pipeline is never used again after a doubt.

A caller that hangs up changes nothing for the others: its answer is still awaited in its turn, checked and dropped.
"""

import asyncio
import contextlib
import os
import secrets
import signal
import subprocess
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

DEPTH = 64
MAX_ANSWER_BYTES = 4 * 1024 * 1024
TIME_LIMIT = timedelta(seconds=10)


class PipelineDiedError(Exception):
    """The pipeline ended before it answered. The same text may succeed in another one."""


class NotSentError(PipelineDiedError):
    """The pipeline ended before it was given the text, which therefore has no part in its death."""


@dataclass(slots=True)
class _Question:
    nonce: str
    answer: asyncio.Future[str]

    def unframed(self, frame: str) -> str | None:
        """The text between this question's own nonces; None when they are not there."""
        begin, end = _frame(self.nonce)
        if len(frame) < len(begin) + len(end) or not frame.startswith(begin) or not frame.endswith(end):
            return None
        return frame[len(begin) : len(frame) - len(end)]


def _frame(nonce: str) -> tuple[str, str]:
    return f"[b{nonce}]", f"[e{nonce}]"


@dataclass(frozen=True, slots=True)
class StageGroup:
    """The running stages and our two ends of their pipes."""

    processes: tuple["subprocess.Popen[bytes]", ...]
    write_end: int
    read_end: int


def start_stages(stages: Sequence[Sequence[str]]) -> StageGroup:
    """The stages, started in one process group. Blocks for some milliseconds a stage.

    Raises: OSError when a program cannot be started; those already started are killed.
    """
    processes: list[subprocess.Popen[bytes]] = []
    reader, write_end = os.pipe()
    try:
        for stage in stages:
            following, writer = os.pipe()
            try:
                group = processes[0].pid if processes else 0
                processes.append(_start(stage, reader, writer, group))
            finally:
                os.close(reader)
                os.close(writer)
                reader = following
    except OSError:
        os.close(reader)
        os.close(write_end)
        for process in processes:
            process.kill()
            process.wait()
        raise
    return StageGroup(tuple(processes), write_end, reader)


def _start(stage: Sequence[str], reader: int, writer: int, group: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(stage, stdin=reader, stdout=writer, stderr=subprocess.DEVNULL, process_group=group)


class Pipeline(asyncio.Protocol):
    """One warm process group. Open it with `open_pipeline`."""

    def __init__(self, name: str, group: StageGroup, *, time_limit: timedelta) -> None:
        self.name = name
        self.answered = 0
        self.why_dead = ""
        self._group = group
        self._time_limit_s = time_limit.total_seconds()
        self._loop = asyncio.get_running_loop()
        self._depth = asyncio.Semaphore(DEPTH)
        self._waiting: deque[_Question] = deque()
        self._received = bytearray()
        self._timer: asyncio.TimerHandle | None = None
        self._writer: asyncio.WriteTransport | None = None
        self._reader: asyncio.ReadTransport | None = None
        self._alive = {self._watch(process): process for process in group.processes}
        self._reaped = asyncio.Event()

    @property
    def pids(self) -> tuple[int, ...]:
        """The stages' process ids, first to last."""
        return tuple(process.pid for process in self._group.processes)

    @property
    def in_flight(self) -> int:
        """Texts written and not yet answered."""
        return len(self._waiting)

    async def attach(self) -> None:
        """Connects our two ends; called once, by `open_pipeline`."""
        read_file = os.fdopen(self._group.read_end, "rb", 0)
        write_file = os.fdopen(self._group.write_end, "wb", 0)
        reader, _ = await self._loop.connect_read_pipe(lambda: self, read_file)
        writer, _ = await self._loop.connect_write_pipe(asyncio.BaseProtocol, write_file)
        self._reader, self._writer = reader, writer
        if self.why_dead:
            self._close_ends()

    async def ask(self, body: str) -> str:
        """The stages' answer to `body`, which must hold no NUL.

        Raises: PipelineDiedError.
        """
        if "\0" in body:
            raise ValueError("a text with a NUL cannot be framed")
        await self._depth.acquire()
        if self.why_dead or self._writer is None:
            self._depth.release()
            raise NotSentError(self.why_dead)
        question = _Question(secrets.token_hex(8), self._loop.create_future())
        self._waiting.append(question)
        if len(self._waiting) == 1:
            self._await_head()
        self._writer.write(body.join(_frame(question.nonce)).encode() + b"\0")
        return await question.answer

    def _await_head(self) -> None:
        """Starts the time of the question that is next to be answered; those behind it do not run yet."""
        if self._timer is not None:
            self._timer.cancel()
        late = "an answer was late"
        self._timer = self._loop.call_later(self._time_limit_s, self.kill, late) if self._waiting else None

    def data_received(self, data: bytes) -> None:
        """Output of the last stage."""
        self._received += data
        while (end := self._received.find(b"\0")) >= 0 and not self.why_dead:
            frame = bytes(self._received[:end])
            del self._received[: end + 1]
            self._match(frame)
        if len(self._received) > MAX_ANSWER_BYTES:
            self.kill("an answer without end")

    def connection_lost(self, _exc: Exception | None) -> None:
        """The last stage's output ended."""
        self.kill("its output ended")

    def _match(self, frame: bytes) -> None:
        question = self._waiting[0] if self._waiting else None
        try:
            answer = question.unframed(frame.decode()) if question else None
        except UnicodeDecodeError:
            answer = None
        if question is None or answer is None:
            self.kill("an answer did not carry its question's nonce")
            return
        self._waiting.popleft()
        self._settle(question, answer)
        self._await_head()
        self.answered += 1

    def _settle(self, question: _Question, outcome: str | PipelineDiedError) -> None:
        self._depth.release()
        if question.answer.done():
            return
        if isinstance(outcome, str):
            question.answer.set_result(outcome)
        else:
            question.answer.set_exception(outcome)

    def kill(self, why: str) -> None:
        """Kills the whole group; every question in flight fails. Killing it again does nothing."""
        if self.why_dead:
            return
        self.why_dead = why
        if self._alive:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pids[0], signal.SIGKILL)
        while self._waiting:
            self._settle(self._waiting.popleft(), PipelineDiedError(f"pipeline {self.name}: {why}"))
        self._await_head()
        self._close_ends()

    async def close(self) -> None:
        """Kills the group and returns when no stage is left."""
        self.kill("it was closed")
        await self._reaped.wait()

    def _close_ends(self) -> None:
        if self._reader is not None:
            self._reader.close()
        if self._writer is not None and not self._writer.is_closing():  # asyncio's abort() is no good twice
            self._writer.abort()

    def _watch(self, process: "subprocess.Popen[bytes]") -> int:
        pidfd = os.pidfd_open(process.pid)
        self._loop.add_reader(pidfd, self._stage_ended, pidfd)
        return pidfd

    def _stage_ended(self, pidfd: int) -> None:
        process = self._alive[pidfd]
        self._loop.remove_reader(pidfd)
        os.close(pidfd)
        try:
            self.kill(f"its stage {process.args!r} ended")  # before it is reaped: until then the group is surely ours
        finally:
            process.wait()
            del self._alive[pidfd]
            if not self._alive:
                self._reaped.set()


async def open_pipeline(name: str, stages: Sequence[Sequence[str]], *, time_limit: timedelta = TIME_LIMIT) -> Pipeline:
    """A warm pipeline of these stages.

    Raises: OSError when a program cannot be started.
    """
    group = await asyncio.to_thread(start_stages, stages)
    pipeline = Pipeline(name, group, time_limit=time_limit)
    await pipeline.attach()
    return pipeline
