"""A small service on the real harness, whose calls do what their first text says; also a process of its own."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import click
import grpc
from tidegate.translation.v1 import translation_pb2 as pb
from tidegate.translation.v1 import translation_pb2_grpc as pb_grpc

from services.runtime.call import current_call
from services.runtime.errors import FieldViolation, bad_request
from services.runtime.options import ServiceOptions, service_options
from services.runtime.service import Binding, Runtime, Serving, run_service, serving

SERVICE = "tidegate.translation.v1.TranslationService"
METHOD = f"/{SERVICE}/TranslateText"
NOW = {"drain_delay": timedelta(0), "grace": timedelta(seconds=5)}


@dataclass
class Probe(pb_grpc.TranslationServiceServicer):
    """Echoes, waits, refuses, aborts or breaks. `upstream`: another server that "forward" calls."""

    upstream: Any = None
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    release: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    metadata: list[dict[str, str]] = field(default_factory=list)
    remaining: list[float | None] = field(default_factory=list)
    wait_s: float = 0.0

    async def TranslateText(self, request: Any, context: Any) -> Any:
        word = request.contents[0]
        self._note(context)
        match word:
            case "wait":
                await self._wait()
            case "nap":
                await asyncio.sleep(self.wait_s)
            case "refuse":
                raise bad_request(FieldViolation("contents[0]", "is refused"), reason="REFUSED")
            case "abort":
                await context.abort(grpc.StatusCode.NOT_FOUND, "gone")
            case "bug":
                raise RuntimeError("a bug that callers must not read about")
            case "forward":
                return await self.upstream.TranslateText(pb.TranslateTextRequest(contents=["echo"]))
        return pb.TranslateTextResponse(translations=[pb.Translation(translated_text=word)])

    async def StreamTranslate(self, request: Any, context: Any) -> AsyncIterator[Any]:
        self._note(context)
        try:
            for number in range(3):
                yield pb.StreamTranslateResponse(segment=pb.Segment(index=number, source_text=request.content))
                if request.content == "wait":
                    await self._wait()
                if request.content == "nap":
                    await asyncio.sleep(self.wait_s)
        except (GeneratorExit, asyncio.CancelledError):
            self.cancelled.set()
            raise

    def _note(self, context: Any) -> None:
        self.metadata.append(dict(context.invocation_metadata()))
        call = current_call()
        self.remaining.append(call.remaining_s() if call else None)

    async def _wait(self) -> None:
        self.begun.set()
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


@dataclass
class Standing:
    """A probe that serves in this process."""

    probe: Probe
    stub: Any
    channel: grpc.aio.Channel
    service: Serving
    runtime: Runtime


def opener(probe: Probe, seen: list[Runtime] | None = None) -> Any:
    """What `run_service` and `serving` take."""

    @asynccontextmanager
    async def opened(runtime: Runtime) -> AsyncIterator[Sequence[Binding]]:
        if seen is not None:
            seen.append(runtime)
        add = pb_grpc.add_TranslationServiceServicer_to_server
        yield [Binding(SERVICE, lambda server: add(probe, server))]

    return opened


@asynccontextmanager
async def standing(**options: Any) -> AsyncIterator[Standing]:
    """A probe behind the real harness, with a client."""
    probe, seen = Probe(), []
    async with (
        serving("probe", ServiceOptions(**{**NOW, **options}), opener(probe, seen)) as service,
        grpc.aio.insecure_channel(str(service.listen)) as channel,
    ):
        yield Standing(probe, pb_grpc.TranslationServiceStub(channel), channel, service, seen[0])


def ask(word: str = "echo") -> Any:
    """A request that makes the probe do `word`."""
    return pb.TranslateTextRequest(contents=[word])


async def failure(call: Any) -> grpc.aio.AioRpcError:
    """The error that the call ends with."""
    try:
        answer = await call
    except grpc.aio.AioRpcError as error:
        return error
    raise AssertionError(f"answered: {answer}")


def trailers(source: Any) -> dict[str, Any]:
    """Trailing metadata as a dict."""
    return dict(source or ())


@click.command()
@service_options
@click.option("--nap", type=float, default=0.05)
def main(service: ServiceOptions, nap: float) -> None:
    run_service("probe", service, opener(Probe(wait_s=nap)))


if __name__ == "__main__":
    main()
