"""`python -m services.translator`: one translator process."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import click
from tidegate.cache.v1 import cache_pb2_grpc
from tidegate.detection.v1 import detection_pb2_grpc
from tidegate.translation.v1.translation_pb2_grpc import add_TranslationServiceServicer_to_server

from services.runtime.options import AddressType, ServiceOptions, service_options
from services.runtime.service import Binding, Runtime, StartError, run_service
from services.translator.afterwards import Afterwards
from services.translator.cache import Cache, CacheProxy, NoCache
from services.translator.detector import Detector, LangDetector, NoDetector
from services.translator.engines.apertium.catalog import chains
from services.translator.engines.apertium.engine import open_apertium
from services.translator.engines.engine import EngineMissingError
from services.translator.flow import Flow
from services.translator.languages import LanguageSet, Pair
from services.translator.metrics import PIPELINES
from services.translator.request import Offer
from services.translator.servicer import TranslationServicer

SERVICE = "tidegate.translation.v1.TranslationService"
DETECTOR_LIMIT = timedelta(seconds=2)
CACHE_LIMIT = timedelta(milliseconds=500)
# The names under which the mesh routes to them.
DETECTOR_HOST = "lang-detector"
CACHE_HOST = "cache-proxy"


@dataclass(frozen=True, slots=True)
class TranslatorOptions:
    """What a translator process offers and whom it calls; an address of None means that it is not called.

    `warm`: pairs whose pipelines are opened right after the start, in the background, and not on first use.
    """

    languages: LanguageSet = LanguageSet.BASE
    detector: str | None = None
    cache: str | None = None
    warm: tuple[Pair, ...] = ()


@dataclass(frozen=True, slots=True)
class Opener:
    """Opens the service with these options; `run_service` calls it."""

    options: TranslatorOptions

    @asynccontextmanager
    async def __call__(self, runtime: Runtime) -> AsyncIterator[Sequence[Binding]]:
        """The bindings, while the engine is open.

        Raises: StartError when the engine is not installed.
        """
        pipelines = runtime.meter[PIPELINES]
        try:
            async with open_apertium(
                self.options.languages, opened=lambda mode: pipelines.labels(mode).inc()
            ) as engine:
                offer = Offer(frozenset(route.pair for route in engine.routes()))
                label = runtime.options.version_label
                flow = Flow(engine, self._detector(runtime), self._cache(runtime), offer, label)
                afterwards = Afterwards()
                servicer = TranslationServicer(flow, runtime.meter, afterwards)
                afterwards.start(engine.warm(self.options.warm))
                yield [Binding(SERVICE, partial(add_TranslationServiceServicer_to_server, servicer))]
                await afterwards.close()
        except EngineMissingError as error:
            raise StartError(str(error)) from error

    def _detector(self, runtime: Runtime) -> Detector:
        if self.options.detector is None:
            return NoDetector()
        channel = runtime.channel(self.options.detector, limit=DETECTOR_LIMIT, authority=DETECTOR_HOST)
        return LangDetector(detection_pb2_grpc.DetectionServiceStub(channel))  # type: ignore[no-untyped-call]

    def _cache(self, runtime: Runtime) -> Cache:
        if self.options.cache is None:
            return NoCache()
        channel = runtime.channel(self.options.cache, limit=CACHE_LIMIT, authority=CACHE_HOST)
        return CacheProxy(cache_pb2_grpc.CacheServiceStub(channel))  # type: ignore[no-untyped-call]


@click.command()
@service_options
@click.option(
    "--languages",
    type=click.Choice([languages.value for languages in LanguageSet]),
    default=LanguageSet.BASE.value,
    show_default=True,
    help="base: en and fr with es. extended: also pt, ca, it, gl and pivot chains.",
)
@click.option("--warm", multiple=True, help="Open this pair (en-es) at the start and not on first use; repeatable.")
@click.option("--detector", type=AddressType(), default=None, help="Address of lang-detector.")
@click.option("--cache", type=AddressType(), default=None, help="Address of cache-proxy.")
def main(service: ServiceOptions, languages: str, warm: tuple[str, ...], detector: object, cache: object) -> None:
    """Serve tidegate.translation.v1.TranslationService with Apertium."""
    offered = LanguageSet(languages)
    options = TranslatorOptions(
        offered,
        detector=None if detector is None else str(detector),
        cache=None if cache is None else str(cache),
        warm=_pairs(warm, offered),
    )
    run_service("translator", service, Opener(options))


def _pairs(words: tuple[str, ...], languages: LanguageSet) -> tuple[Pair, ...]:
    """The pairs that the words name.

    Raises: BadParameter when one is not offered.
    """
    offered = {str(pair): pair for pair in chains(languages)}
    unknown = [word for word in words if word not in offered]
    if unknown:
        raise click.BadParameter(
            f"{', '.join(unknown)}: not offered with --languages {languages} (offered: {', '.join(sorted(offered))})",
            param_hint="--warm",
        )
    return tuple(offered[word] for word in words)


if __name__ == "__main__":
    main()
