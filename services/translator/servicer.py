"""How do the translator's calls look on the wire?"""

from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Iterable, Sequence
from contextlib import aclosing
from typing import Any

import grpc
from tidegate.translation.v1 import translation_pb2 as pb
from tidegate.translation.v1 import translation_pb2_grpc

from services.runtime.call import annotate
from services.runtime.errors import CallError, FieldViolation, bad_request
from services.runtime.metrics import Meter
from services.translator.afterwards import Afterwards
from services.translator.engines.engine import Failed, Outcome, Route, Translated
from services.translator.flow import Done, Flow, Refused, Task, engine_error, joined, pieces_of, segment
from services.translator.languages import NAMES, canonical_tag
from services.translator.metrics import REFUSED, SENTENCES, TEXTS, UNSTORED
from services.translator.request import checked
from services.translator.segments import Piece
from services.translator.together import in_turn, together

AT_ONCE = 16


class TranslationServicer(translation_pb2_grpc.TranslationServiceServicer):
    """TranslationService over one flow."""

    def __init__(self, flow: Flow, meter: Meter, afterwards: Afterwards) -> None:
        self._flow = flow
        self._meter = meter
        self._afterwards = afterwards

    async def TranslateText(self, request: pb.TranslateTextRequest, _context: Any) -> pb.TranslateTextResponse:
        """Several texts, one status each, in order."""
        wanted = checked(
            request.contents,
            request.mime_type,
            request.source_language_code,
            request.target_language_code,
            request.domain,
            offer=self._flow.offer,
        )
        plans = await self._flow.plans(wanted)
        outcomes = await together(plans, self._flow.carry_out, at_once=AT_ONCE)
        _raise_if_engine_is_away(outcomes)
        self._ended(outcomes, wanted.target)
        return pb.TranslateTextResponse(translations=[self._translation(outcome) for outcome in outcomes])

    async def StreamTranslate(
        self, request: pb.StreamTranslateRequest, _context: Any
    ) -> AsyncIterator[pb.StreamTranslateResponse]:
        """One text: each sentence the moment that it and all before it are ready, then the whole.

        A text that the cache knows, or that passes through, is one segment. The segments put together are the final
        text. The first sentence that cannot be translated ends the stream with its status.
        """
        wanted = checked(
            [request.content],
            request.mime_type,
            request.source_language_code,
            request.target_language_code,
            request.domain,
            offer=self._flow.offer,
            field="content",
        )
        (plan,) = await self._flow.plans(wanted)
        if isinstance(plan, Task) and not plan.look.hit:
            pieces = pieces_of(plan.key.content)
            outcomes: list[Translated] = []
            async with aclosing(self._sentences(pieces, plan)) as sentences:
                async for outcome in sentences:
                    piece = pieces[len(outcomes)]
                    outcomes.append(outcome)
                    whole = outcome.text + piece.gap
                    yield _segment(len(outcomes) - 1, piece.sentence + piece.gap, whole, plan.look.result)
            done = joined(plan, pieces, outcomes)
        else:
            done = await self._flow.carry_out(plan)
            if isinstance(done, Done):
                yield _segment(0, request.content, done.text, done.cache)
        self._ended([done], wanted.target)
        if isinstance(done, Refused):
            raise done.error
        yield pb.StreamTranslateResponse(final=self._translation(done))

    async def GetSupportedLanguages(
        self, request: pb.GetSupportedLanguagesRequest, _context: Any
    ) -> pb.SupportedLanguages:
        """The languages and pairs of this version."""
        routes = self._flow.engine.routes()
        wanted = request.source_language_code
        if wanted:
            source = canonical_tag(wanted)
            routes = tuple(route for route in routes if route.pair.source == source)
            if not routes:
                raise bad_request(FieldViolation("source_language_code", f"{wanted!r} is not a source language here"))
        return _supported(routes)

    async def _sentences(self, pieces: Sequence[Piece], plan: Task) -> AsyncGenerator[Translated, None]:
        """Each sentence's translation in order. Leaving early frees the engine."""

        def translated(piece: Piece) -> Coroutine[Any, Any, list[Outcome]]:
            return self._flow.engine.translate_batch([segment(piece)], plan.pair)

        async with aclosing(in_turn(pieces, translated, at_once=AT_ONCE)) as outcomes:
            async for (outcome,) in outcomes:
                if isinstance(outcome, Failed):
                    raise engine_error(outcome)
                yield outcome

    def _ended(self, outcomes: Sequence[Done | Refused], target: str) -> None:
        """Counts the outcomes and sends the fresh ones to the cache."""
        for outcome in outcomes:
            self._count(outcome, target)
        fresh = [outcome.fresh for outcome in outcomes if isinstance(outcome, Done) and outcome.fresh]
        annotate(texts=len(outcomes), target=target, engine_texts=len(fresh))
        if fresh and not self._afterwards.start(self._flow.cache.store(fresh)):
            self._meter[UNSTORED].inc(len(fresh))

    def _count(self, outcome: Done | Refused, target: str) -> None:
        if isinstance(outcome, Refused):
            self._meter[REFUSED].labels(outcome.error.reason).inc()
            return
        cache = pb.CacheResult.Name(outcome.cache).removeprefix("CACHE_RESULT_").lower()
        self._meter[TEXTS].labels(target, cache).inc()
        if outcome.fresh is not None:
            self._meter[SENTENCES].labels(str(outcome.fresh.key.pair)).inc()

    def _translation(self, outcome: Done | Refused) -> pb.Translation:
        label = self._flow.version_label
        if isinstance(outcome, Refused):
            return pb.Translation(
                status=outcome.error.status(),
                detected_language_code=outcome.detected,
                cache=outcome.cache,
                served_by=label,
            )
        translation = pb.Translation(
            translated_text=outcome.text,
            model=outcome.model,
            detected_language_code=outcome.detected,
            cache=outcome.cache,
            unknown_ratio=outcome.unknown_ratio,
            served_by=label,
        )
        translation.status.SetInParent()
        return translation


def _segment(index: int, source: str, translated: str, cache: pb.CacheResult) -> pb.StreamTranslateResponse:
    segment = pb.Segment(index=index, source_text=source, translated_text=translated, cache=cache)
    return pb.StreamTranslateResponse(segment=segment)


def _raise_if_engine_is_away(outcomes: Sequence[Done | Refused]) -> None:
    """An engine that served none of the texts is the call's failure: the mesh has to see it."""
    errors = [outcome.error for outcome in outcomes if isinstance(outcome, Refused)]
    away: list[CallError] = [error for error in errors if error.code is grpc.StatusCode.UNAVAILABLE]
    if away and len(away) == len(outcomes):
        raise away[0]


def _supported(routes: Iterable[Route]) -> pb.SupportedLanguages:
    routes = list(routes)
    sources = {route.pair.source for route in routes}
    targets = {route.pair.target for route in routes}
    languages = [
        pb.SupportedLanguage(
            language_code=code,
            display_name=NAMES[code],
            support_source=code in sources,
            support_target=code in targets,
        )
        for code in sorted(sources | targets)
    ]
    pairs = [
        pb.LanguagePair(source_language_code=route.pair.source, target_language_code=route.pair.target, via=route.via)
        for route in routes
    ]
    return pb.SupportedLanguages(languages=languages, pairs=pairs)
