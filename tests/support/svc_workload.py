"""The three services of the workload on the real harness, in this process, each on a port of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import grpc
from tidegate.translation.v1 import translation_pb2 as pb
from tidegate.translation.v1 import translation_pb2_grpc as pb_grpc

from services.cache_proxy.__main__ import CacheSettings
from services.cache_proxy.__main__ import open_service as open_cache
from services.lang_detector.__main__ import open_service as open_lang_detector
from services.lang_detector.model import open_detector
from services.runtime.options import ServiceOptions
from services.runtime.service import Runtime, serving
from services.translator.__main__ import Opener, TranslatorOptions
from services.translator.languages import LanguageSet

NOW = {"drain_delay": timedelta(0), "grace": timedelta(seconds=2)}


@dataclass
class Translator:
    """A running translator and a client of it."""

    stub: Any
    runtime: Runtime

    async def texts(self, *contents: str, source: str = "en", target: str = "es", **fields: Any) -> list[Any]:
        """The translations of these texts."""
        request = pb.TranslateTextRequest(
            contents=contents, source_language_code=source, target_language_code=target, **fields
        )
        return list((await self.stub.TranslateText(request)).translations)


@asynccontextmanager
async def cache_proxy() -> AsyncIterator[str]:
    """A cache without Redis; its address."""
    async with serving("cache-proxy", ServiceOptions(**NOW), partial(open_cache, CacheSettings())) as service:
        yield str(service.listen)


@asynccontextmanager
async def lang_detector() -> AsyncIterator[str]:
    """A detector of six languages; its address."""
    opened = partial(open_lang_detector, open_detector(["en", "es", "fr", "pt", "it", "ca"]))
    async with serving("lang-detector", ServiceOptions(**NOW), opened) as service:
        yield str(service.listen)


@asynccontextmanager
async def translator(
    version: str = "v1",
    languages: LanguageSet = LanguageSet.BASE,
    *,
    detector: str | None = None,
    cache: str | None = None,
) -> AsyncIterator[Translator]:
    """A translator that calls these addresses."""
    seen: list[Runtime] = []
    opener = Opener(TranslatorOptions(languages, detector, cache))

    def opened(runtime: Runtime) -> Any:
        seen.append(runtime)
        return opener(runtime)

    options = ServiceOptions(version_label=version, **NOW)
    async with (
        serving("translator", options, opened) as service,
        grpc.aio.insecure_channel(str(service.listen)) as channel,
    ):
        yield Translator(pb_grpc.TranslationServiceStub(channel), seen[0])
