"""How does a text become its translation?

    source given     look the cache up, engine on a miss
    source unknown   ask the detector, and at the same time look the cache up under *every* source language from which
                     the target can be reached; the detector's answer then picks one of those looks

The second costs some more keys in one round trip and keeps one kind of cache entry: an answer stored for a caller who
named the language serves one who did not, and the other way round. The rejected way, a key with the source "auto",
would store each text twice and need the detected language inside the value.

A text without a letter, and one that is in the target language already, is returned as it is, with the model
`passthrough`: there is nothing to translate, no engine is asked and nothing is stored.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import grpc
from tidegate.translation.v1 import translation_pb2

from services.runtime.errors import CallError, FieldViolation, bad_request
from services.runtime.texts import text_problem
from services.translator.cache import Cache, CacheResult, Entry, Key, Look
from services.translator.detector import GIVE_SOURCE, Detector
from services.translator.engines.engine import Engine, Failed, FailureKind, Segment, Translated
from services.translator.languages import UNDETERMINED, Pair, canonical_tag
from services.translator.request import Offer, Wanted
from services.translator.segments import Piece, split_sentences
from services.translator.shield import shielded_spans

PASSTHROUGH = "passthrough"
NOT_ASKED = translation_pb2.CACHE_RESULT_UNSPECIFIED
_CODES = {
    FailureKind.TOO_LONG: (grpc.StatusCode.RESOURCE_EXHAUSTED, "SENTENCE_TOO_LONG"),
    FailureKind.REFUSED_BY_ENGINE: (grpc.StatusCode.RESOURCE_EXHAUSTED, "ENGINE_REFUSED_SENTENCE"),
    FailureKind.UNAVAILABLE: (grpc.StatusCode.UNAVAILABLE, "ENGINE_UNAVAILABLE"),
}


@dataclass(frozen=True, slots=True)
class Done:
    """A translated text. `fresh` is what the cache should keep, None when there is nothing new."""

    text: str
    model: str
    detected: str = ""
    cache: CacheResult = NOT_ASKED
    unknown_ratio: float = 0.0
    fresh: Entry | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """A text that was not translated."""

    error: CallError
    detected: str = ""
    cache: CacheResult = NOT_ASKED


@dataclass(frozen=True, slots=True)
class Task:
    """A text for the engine: its pair, its key, and what the cache said."""

    pair: Pair
    key: Key
    look: Look
    detected: str = ""


Plan = Done | Refused | Task


@dataclass(frozen=True, slots=True)
class Flow:
    """The steps from texts to translations, over one engine, one detector and one cache."""

    engine: Engine
    detector: Detector
    cache: Cache
    offer: Offer
    version_label: str

    async def model(self, pair: Pair) -> str:
        """The maker's identity: the engine's, and this version's label."""
        return f"{await self.engine.identity(pair)}/{self.version_label}"

    async def plans(self, wanted: Wanted) -> list[Plan]:
        """What is to be done for each text, after the detector and the cache have answered.

        Raises: CallError UNAVAILABLE when a language has to be detected and cannot.
        """
        alone = [_refusal_or_passthrough(index, text, wanted) for index, text in enumerate(wanted.texts)]
        asked = [text for text, plan in zip(wanted.texts, alone, strict=True) if plan is None]
        planned = iter(await self._asked_plans(asked, wanted) if asked else [])
        return [plan if plan is not None else next(planned) for plan in alone]

    async def _asked_plans(self, texts: Sequence[str], wanted: Wanted) -> list[Plan]:
        if wanted.source is not None:
            pair = self._pair(wanted.source, wanted.target)
            looks = await self._looks(texts, [pair], wanted)
            return [Task(pair, *looks[pair][index]) for index in range(len(texts))]
        pairs = [Pair(source, wanted.target) for source in self.offer.sources_of(wanted.target)]
        languages, looks = await asyncio.gather(self.detector.detect(texts), self._looks(texts, pairs, wanted))
        return [self._detected_plan(text, index, languages[index], wanted, looks) for index, text in enumerate(texts)]

    def _pair(self, source: str, target: str) -> Pair:
        pair = self.offer.pair(source, target)
        assert pair is not None, "a checked request names an offered pair"
        return pair

    async def _looks(
        self, texts: Sequence[str], pairs: Sequence[Pair], wanted: Wanted
    ) -> Mapping[Pair, list[tuple[Key, Look]]]:
        """Each pair's key and look for each text, in one look-up."""
        models = await asyncio.gather(*(self.model(pair) for pair in pairs))
        keys = [
            Key(pair, wanted.domain, model, text) for pair, model in zip(pairs, models, strict=True) for text in texts
        ]
        looks = list(zip(keys, await self.cache.lookup(keys), strict=True))
        return {pair: looks[n * len(texts) : (n + 1) * len(texts)] for n, pair in enumerate(pairs)}

    def _detected_plan(
        self, text: str, index: int, tag: str, wanted: Wanted, looks: Mapping[Pair, list[tuple[Key, Look]]]
    ) -> Plan:
        source = canonical_tag(tag)
        if source == wanted.target:
            return Done(text, PASSTHROUGH, tag)
        pair = self.offer.pair(source, wanted.target) if source else None
        if pair is None:
            return Refused(_no_pair(tag, wanted.target), tag)
        return Task(pair, *looks[pair][index], detected=tag)

    async def carry_out(self, plan: Plan) -> Done | Refused:
        """The outcome of one plan: from the cache, or from the engine."""
        if not isinstance(plan, Task):
            return plan
        if plan.look.hit:
            return Done(plan.look.text, plan.key.model, plan.detected, plan.look.result, plan.look.unknown_ratio)
        pieces = pieces_of(plan.key.content)
        outcomes = await self.engine.translate_batch([segment(piece) for piece in pieces], plan.pair)
        return joined(plan, pieces, outcomes)


def pieces_of(text: str) -> list[Piece]:
    """The sentences and gaps of a text, shielded spans found."""
    return split_sentences(text, shielded_spans(text))


def segment(piece: Piece) -> Segment:
    """The piece's sentence as an engine takes it."""
    return Segment(piece.sentence, piece.shielded)


def joined(plan: Task, pieces: Sequence[Piece], outcomes: Sequence[Translated | Failed]) -> Done | Refused:
    """One text from its sentences. It is refused when one of them is."""
    failed = next((outcome for outcome in outcomes if isinstance(outcome, Failed)), None)
    if failed is not None:
        return Refused(engine_error(failed), plan.detected, plan.look.result)
    done = [outcome for outcome in outcomes if isinstance(outcome, Translated)]
    text = "".join(outcome.text + piece.gap for outcome, piece in zip(done, pieces, strict=True))
    words, unknown = sum(o.words for o in done), sum(o.unknown for o in done)
    ratio = unknown / words if words else 0.0
    entry = Entry(plan.key, text, ratio)
    return Done(text, plan.key.model, plan.detected, plan.look.result, ratio, entry)


def engine_error(failed: Failed) -> CallError:
    """What a caller is told about a sentence that the engine did not translate."""
    code, reason = _CODES[failed.kind]
    return CallError(code, failed.message, reason=reason)


def _refusal_or_passthrough(index: int, text: str, wanted: Wanted) -> Plan | None:
    """The plan of a text that needs neither detector nor cache; None for all others."""
    problem = text_problem(text)
    if problem:
        return Refused(bad_request(FieldViolation(f"contents[{index}]", problem), reason="BAD_TEXT"))
    if wanted.source == wanted.target or not any(map(str.isalpha, text)):
        return Done(text, PASSTHROUGH, "" if wanted.source else UNDETERMINED)
    return None


def _no_pair(tag: str, target: str) -> CallError:
    if tag in ("", UNDETERMINED):
        return CallError(
            grpc.StatusCode.INVALID_ARGUMENT,
            f"the language of this text could not be determined; {GIVE_SOURCE}",
            reason="LANGUAGE_UNDETERMINED",
        )
    return CallError(
        grpc.StatusCode.INVALID_ARGUMENT,
        f"the text was detected as {tag}; {tag} to {target} is not offered by this version",
        reason="PAIR_NOT_OFFERED",
    )
