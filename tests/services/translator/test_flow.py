"""How does a text become its translation, and what when a part of that is away? Doubles stand in for the neighbours."""

import asyncio
from dataclasses import dataclass, field

import grpc
import pytest
from tidegate.translation.v1 import translation_pb2 as pb

from services.runtime.errors import CallError
from services.runtime.metrics import Meter
from services.translator.afterwards import Afterwards
from services.translator.cache import Look
from services.translator.detector import NoDetector
from services.translator.engines.engine import Failed, FailureKind, Route, Translated
from services.translator.flow import Flow, Refused
from services.translator.languages import Pair
from services.translator.request import Offer, Wanted
from services.translator.servicer import TranslationServicer
from tests.support.mesh_wait import until

PAIRS = (Pair("en", "es"), Pair("fr", "es"))
MISS = pb.CACHE_RESULT_MISS


@dataclass
class EngineDouble:
    """Upper case is its language; words of `failures` fail."""

    failures: dict = field(default_factory=dict)
    asked: list = field(default_factory=list)

    def routes(self):
        return tuple(map(Route, PAIRS))

    async def identity(self, pair):
        return f"double/{pair}"

    async def warm(self, pairs):
        raise AssertionError("nobody asked for it")

    async def translate_batch(self, segments, pair):
        self.asked += [(segment.text, pair) for segment in segments]
        return [self._outcome(segment.text) for segment in segments]

    def _outcome(self, text):
        if text in self.failures:
            return Failed(self.failures[text], "it failed")
        return Translated(text.upper(), 2, 1)


@dataclass
class CacheDouble:
    """Remembers what it is told; `asked` is set by a look-up."""

    known: dict = field(default_factory=dict)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    keys: list = field(default_factory=list)

    async def lookup(self, keys):
        self.keys = keys
        self.asked.set()
        return [self.known.get(key, Look(MISS)) for key in keys]

    async def store(self, entries):
        self.known |= {entry.key: Look(pb.CACHE_RESULT_HIT_LOCAL, entry.text, entry.unknown_ratio) for entry in entries}


@dataclass
class DetectorDouble:
    """Answers `languages`, but only after `gate` opened."""

    languages: list
    gate: asyncio.Event | None = None

    async def detect(self, texts):
        if self.gate is not None:
            await asyncio.wait_for(self.gate.wait(), 60)
        return self.languages


def flow(engine=None, detector=None, cache=None):
    return Flow(engine or EngineDouble(), detector or NoDetector(), cache or CacheDouble(), Offer(PAIRS), "v1")


def wanted(*texts, source=None):
    return Wanted(texts, source, "es", "")


async def test_the_cache_is_asked_while_the_detector_still_thinks():
    cache = CacheDouble()
    plans = await flow(detector=DetectorDouble(["fr"], gate=cache.asked), cache=cache).plans(wanted("bonjour"))
    assert [plan.pair for plan in plans] == [Pair("fr", "es")]
    assert [key.pair for key in cache.keys] == list(PAIRS), "under every language that it may be"
    assert [key.model for key in cache.keys] == ["double/en-es/v1", "double/fr-es/v1"]


async def test_a_named_language_asks_for_one_key_and_no_detector():
    cache = CacheDouble()
    await flow(cache=cache).plans(wanted("hello", source="en"))
    assert [(key.pair, key.content) for key in cache.keys] == [(PAIRS[0], "hello")]


async def test_the_detected_language_picks_its_own_look():
    cache = CacheDouble()
    first = flow(cache=cache, detector=DetectorDouble(["en", "fr"]))
    for plan in await first.plans(wanted("chat", "chat")):
        done = await first.carry_out(plan)
        await cache.store([done.fresh])
    english = CacheDouble({key: look for key, look in cache.known.items() if key.pair.source == "en"})
    second = flow(cache=english, detector=DetectorDouble(["en", "fr"]))
    outcomes = [await second.carry_out(plan) for plan in await second.plans(wanted("chat", "chat"))]
    assert [outcome.cache for outcome in outcomes] == [pb.CACHE_RESULT_HIT_LOCAL, MISS]


@pytest.mark.parametrize(
    ("tag", "reason"),
    [
        ("und", "LANGUAGE_UNDETERMINED"),
        ("", "LANGUAGE_UNDETERMINED"),
        ("de", "PAIR_NOT_OFFERED"),
        ("pt", "PAIR_NOT_OFFERED"),
    ],
)
async def test_a_language_that_leads_nowhere_refuses_that_text_alone(tag, reason):
    plans = await flow(detector=DetectorDouble([tag, "en"])).plans(wanted("hallo", "hello"))
    assert isinstance(plans[0], Refused)
    assert plans[0].error.reason == reason
    assert plans[1].pair == PAIRS[0]


async def test_nothing_is_asked_about_texts_that_pass_through_or_are_refused():
    plans = await flow(detector=NoDetector()).plans(wanted("123", "a\0b", "\ud800"))
    assert [type(plan).__name__ for plan in plans] == ["Done", "Refused", "Refused"]


def request(*texts, source="en"):
    return pb.TranslateTextRequest(contents=texts, source_language_code=source, target_language_code="es")


def servicer(**failures):
    engine = EngineDouble({text: FailureKind[kind] for text, kind in failures.items()})
    cache = CacheDouble()
    return TranslationServicer(flow(engine, cache=cache), Meter(), Afterwards()), cache


async def test_an_engine_that_is_away_for_all_texts_is_the_calls_failure():
    service, _ = servicer(a="UNAVAILABLE", b="UNAVAILABLE")
    with pytest.raises(CallError) as away:
        await service.TranslateText(request("a", "b"), None)
    assert away.value.code is grpc.StatusCode.UNAVAILABLE
    answer = await service.TranslateText(request("a", "fine"), None)
    assert [t.status.code for t in answer.translations] == [14, 0]


async def test_one_sentence_that_fails_fails_its_text_and_is_not_stored():
    service, cache = servicer(Bad="REFUSED_BY_ENGINE")
    answer = await service.TranslateText(request("Good. Bad", "Fine. Too"), None)
    assert [(t.status.code, t.translated_text) for t in answer.translations] == [(8, ""), (0, "FINE. TOO")]
    assert answer.translations[1].unknown_ratio == 0.5
    await until(lambda: cache.known)
    assert [key.content for key in cache.known] == ["Fine. Too"]
