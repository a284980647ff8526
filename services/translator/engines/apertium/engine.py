"""How does Apertium serve a batch of segments?

Each segment goes through the modes of its pair one after the other, several segments at once: they queue in the warm
pipelines and come back in order. Words that the engine marks as unknown are counted; over a chain the worst hop counts,
since a word that the first hop did not know is mostly unknown to the second too.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from services.translator.engines.apertium.catalog import Chain, chains, check_installed
from services.translator.engines.apertium.digest import engine_version, mode_digest
from services.translator.engines.apertium.modes import MODES_DIR, Mode, read_mode
from services.translator.engines.apertium.pipeline import TIME_LIMIT, Pipeline, open_pipeline
from services.translator.engines.apertium.stream_format import Encoded, encode, restore, strip_marks
from services.translator.engines.apertium.warm_mode import IDLE, DeadlyTextError, WarmMode
from services.translator.engines.engine import Failed, FailureKind, Outcome, Route, Segment, Translated
from services.translator.languages import LanguageSet, Pair
from services.translator.together import together

MAX_SEGMENT = 5_000
SEGMENTS_AT_ONCE = 16


class ApertiumEngine:
    """Apertium's pairs of one language set. Open it with `open_apertium`."""

    def __init__(
        self,
        languages: LanguageSet,
        *,
        folder: Path,
        idle: timedelta,
        time_limit: timedelta,
        opened: Callable[[str], None],
    ) -> None:
        self._chains = chains(languages)
        self._folder = folder
        self._idle = idle
        self._time_limit = time_limit
        self._opened = opened
        self._warm: dict[str, WarmMode] = {}
        self._digests: dict[str, asyncio.Task[str]] = {}
        self._version: asyncio.Task[str] | None = None

    def routes(self) -> tuple[Route, ...]:
        """Every pair of the set."""
        return tuple(chain.route for _, chain in sorted(self._chains.items()))

    async def identity(self, pair: Pair) -> str:
        """Engine, version, and each mode with the digest of its programs and data.

        Example: "apertium-3.7.1/eng-spa@1f0c.../es-pt@77ab..."
        """
        if self._version is None:
            self._version = asyncio.create_task(asyncio.to_thread(engine_version))
        modes = self._chains[pair].modes
        digests = await asyncio.gather(*(asyncio.shield(self._digest(name)) for name in modes))
        parts = [f"{name}@{digest}" for name, digest in zip(modes, digests, strict=True)]
        return "/".join([f"apertium-{await asyncio.shield(self._version)}", *parts])

    async def translate_batch(self, segments: Sequence[Segment], pair: Pair) -> list[Outcome]:
        """One outcome a segment, in order."""
        chain = self._chains[pair]
        return await together(segments, lambda segment: self._translated(segment, chain), at_once=SEGMENTS_AT_ONCE)

    async def warm(self, pairs: Sequence[Pair]) -> None:
        """Opens the pipelines of these pairs. One that cannot be opened says so to its first caller."""
        for pair in pairs:
            with contextlib.suppress(OSError, DeadlyTextError):
                await self.identity(pair)
                await self._hops("a", self._chains[pair])

    def warm_modes(self) -> dict[str, WarmMode]:
        """The modes that have been used so far, by name."""
        return dict(self._warm)

    async def close(self) -> None:
        """Ends every pipeline."""
        await asyncio.gather(*(mode.close() for mode in self._warm.values()))

    async def _translated(self, segment: Segment, chain: Chain) -> Outcome:
        if len(segment.text) > MAX_SEGMENT:
            message = f"a sentence of {len(segment.text):,} characters; at most {MAX_SEGMENT:,} can be translated"
            return Failed(FailureKind.TOO_LONG, message)
        encoded = encode(segment.text, segment.shielded)
        if encoded.words == 0:
            return Translated(segment.text, 0, 0)
        try:
            return await self._through(encoded, chain)
        except DeadlyTextError as error:
            return Failed(FailureKind.REFUSED_BY_ENGINE, f"the engine could not translate this sentence: {error}")
        except OSError as error:
            return Failed(FailureKind.UNAVAILABLE, f"Apertium cannot be started: {error}")

    async def _through(self, encoded: Encoded, chain: Chain) -> Translated:
        body, unknown = await self._hops(encoded.body, chain)
        text = restore(body, encoded.originals)
        if text is None:
            text, unknown = await self._part_by_part(encoded, chain)
        return Translated(text.strip(), encoded.words, min(unknown, encoded.words))

    async def _part_by_part(self, encoded: Encoded, chain: Chain) -> tuple[str, int]:
        """The parts between the blanks, each by itself: for a sentence of which a rule dropped a blank."""
        text, unknown = "", 0
        for part, original in zip(encoded.plain_parts(), (*encoded.originals, ""), strict=True):
            body, marked = await self._hops(part, chain) if any(map(str.isalpha, part)) else (part, 0)
            text += (restore(body, ()) or part) + original
            unknown += marked
        return text, unknown

    async def _hops(self, body: str, chain: Chain) -> tuple[str, int]:
        worst = 0
        for mode in chain.modes:
            body, unknown = strip_marks(await self._mode(mode).ask(body))
            worst = max(worst, unknown)
        return body, worst

    def _mode(self, name: str) -> WarmMode:
        if name not in self._warm:

            async def opened() -> Pipeline:
                mode = await asyncio.to_thread(self._read, name)
                pipeline = await open_pipeline(name, mode.stages, time_limit=self._time_limit)
                self._opened(name)
                return pipeline

            self._warm[name] = WarmMode(opened, self._idle)
        return self._warm[name]

    def _read(self, name: str) -> Mode:
        return read_mode(name, self._folder)

    def _digest(self, name: str) -> asyncio.Task[str]:
        if name not in self._digests:
            self._digests[name] = asyncio.create_task(asyncio.to_thread(lambda: mode_digest(self._read(name))))
        return self._digests[name]


@asynccontextmanager
async def open_apertium(
    languages: LanguageSet,
    *,
    folder: Path = MODES_DIR,
    idle: timedelta = IDLE,
    time_limit: timedelta = TIME_LIMIT,
    opened: Callable[[str], None] = lambda _mode: None,
) -> AsyncIterator[ApertiumEngine]:
    """The engine; leaving the block ends its processes. `opened` is told the mode of each pipeline that is opened.

    Raises: EngineMissingError when a package is missing.
    """
    check_installed(languages, folder)
    engine = ApertiumEngine(languages, folder=folder, idle=idle, time_limit=time_limit, opened=opened)
    try:
        yield engine
    finally:
        await engine.close()
