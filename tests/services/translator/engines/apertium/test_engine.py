"""Does Apertium translate truly, keep everything that must be kept, and never mix two callers up?"""

import asyncio
import os
import random
import signal
from datetime import timedelta

import pytest
import pytest_asyncio

from services.translator.engines.apertium.catalog import chains
from services.translator.engines.apertium.engine import MAX_SEGMENT, open_apertium
from services.translator.engines.apertium.pipeline import open_pipeline
from services.translator.engines.apertium.warm_mode import WarmMode
from services.translator.engines.engine import EngineMissingError, Failed, FailureKind, Segment, Translated
from services.translator.languages import LanguageSet, Pair
from services.translator.shield import shielded_spans
from tests.support.mesh_wait import alive, until

pytestmark = [pytest.mark.apertium, pytest.mark.asyncio(loop_scope="module")]
EN_ES = Pair("en", "es")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine():
    async with open_apertium(LanguageSet.EXTENDED) as opened:
        yield opened


def segment(text):
    return Segment(text, tuple(shielded_spans(text)))


async def translated(engine, pair, *texts):
    return await engine.translate_batch([segment(text) for text in texts], pair)


@pytest.mark.parametrize(
    ("pair", "text", "expected"),
    [
        (EN_ES, "I would like to book a table for two people tomorrow night.", "reservar una mesa para dos personas"),
        (Pair("es", "en"), "La casa roja de mi padre.", "The red house of my father."),
        (Pair("fr", "es"), "la maison de mon père", "la casa de mi padre"),
        (Pair("es", "fr"), "la casa de mi padre", "aison de mon père"),
        (Pair("en", "pt"), "Where is the library?", "Onde é a biblioteca?"),
        (Pair("en", "gl"), "Where is the library?", "Onde é a biblioteca?"),
        (Pair("fr", "ca"), "la maison de mon père", "la casa del meu pare"),
    ],
    ids=str,
)
async def test_it_truly_translates(engine, pair, text, expected):
    (outcome,) = await translated(engine, pair, text)
    assert expected in outcome.text
    assert outcome.unknown == 0


async def test_unknown_words_are_counted_and_unmarked(engine):
    (outcome,) = await translated(engine, EN_ES, "The zzxqy house is *big* and #blorptastic.")
    assert (outcome.words, outcome.unknown) == (7, 2)
    assert "zzxqy" in outcome.text
    assert "*" in outcome.text, "the caller's own stars stay"
    assert outcome.text.count("*") == 2
    assert outcome.text.count("#") == 1


KEPT = (
    "{name}", "{{person.name}}", "%(user)s", "%d", "https://example.org/a?b=c", "ana@example.org", "`code here`",
    "<b>", "</b>", '<a href="x">', "user_id", "&amp;", "50%", "[", "]", "^x$", "\\", "~", "C++",
)  # fmt: skip


@pytest.mark.parametrize("kept", KEPT)
async def test_what_must_be_kept_comes_through(engine, kept):
    (outcome,) = await translated(engine, EN_ES, f"Please give {kept} to the people of the house {kept} now.")
    assert outcome.text.count(kept) == 2
    assert "casa" in outcome.text


EVERY_PACKAGE = [*(Pair("es", code) for code in ("pt", "ca", "it", "gl")), EN_ES, Pair("fr", "es"), Pair("en", "gl")]
HOSTILE = {
    "empty": "",
    "blanks": "   ",
    "brackets": "[x] ]y[ [[z]] [s0] [b0] [e0]",
    "a lexical unit": "^house<n><sg>$ ^a/b$",
    "backslashes": r"\ \\ \[ \0 \n",
    "braces": "{} {{}} {a{b}c}",
    "byte order mark": "\ufeffhouse",
    "emoji of many parts": "👨‍👩‍👧 👍🏽 🇪🇸",
    "Chinese": "东京大学在哪里",
    "Hebrew with marks": "\u202eשלום\u202c \u200f",
    "a word of 4,900": "x" * 4_900,
    "nothing but marks": "*#@~/\\<>$^",
    "controls": "a\x01b\x07c\x1bd\x7f",
    "line ends": "a\nb\r\nc\u2028d",
    "decomposed": "cafe\u0301 nin\u0303o",
    "soft hyphen and joiners": "soft\u00adhyphen zero\u200bwidth\u2060joiner",
    "only punctuation": "... !!! ??? —",
    "numbers": "1,234.56 2024-10-01 10:30 +1 (555) 0100 €5 $5",
    "null written out": "\\0 \\x00 &#0;",
}


async def test_hostile_texts_neither_hang_nor_kill_nor_leak_in_any_package(engine):
    for pair in EVERY_PACKAGE:
        outcomes = await translated(engine, pair, *HOSTILE.values(), "casa")
        assert all(isinstance(outcome, Translated) for outcome in outcomes), pair
        for (name, text), outcome in zip(HOSTILE.items(), outcomes, strict=False):
            assert special_of(outcome.text) == special_of(text), (name, pair)
    pipelines = [mode.shared.live for mode in engine.warm_modes().values()]
    assert len(pipelines) >= len(EVERY_PACKAGE)
    assert not [pipeline.why_dead for pipeline in pipelines if pipeline.why_dead]


def special_of(text):
    return [character for character in text if character in "[]{}^$/\\@<>*~\n\r\u2028👨😀"]


async def test_a_blank_that_a_rule_dropped_is_put_back_part_by_part():
    async with open_apertium(LanguageSet.BASE) as engine:
        dropping = ("sed", "-u", "-z", "s/ \\[s1\\]//; s/house/*casa/g")
        engine._warm["eng-spa"] = WarmMode(lambda: open_pipeline("dropping", [dropping]))
        (outcome,) = await translated(engine, EN_ES, "house {a} house {b} and {c}.")
    assert outcome == Translated("casa {a} casa {b} and {c}.", 3, 2)


async def test_a_sentence_over_the_cap_fails_alone(engine):
    outcomes = await translated(engine, EN_ES, "house", "x" * (MAX_SEGMENT + 1), "garden")
    assert [type(outcome) for outcome in outcomes] == [Translated, Failed, Translated]
    assert outcomes[1].kind is FailureKind.TOO_LONG


def numbered(numbers):
    return [f"The house number {number} is big." for number in numbers]


def expected(numbers):
    return [f"El número de casa {number} es grande." for number in numbers]


async def ask_one(engine, number):
    (outcome,) = await translated(engine, EN_ES, *numbered([number]))
    return outcome.text


async def test_two_hundred_at_once_each_get_their_own(engine):
    numbers = range(1_000, 1_200)
    answers = await asyncio.gather(*(ask_one(engine, number) for number in numbers))
    assert answers == expected(numbers)


async def test_nobody_gets_anothers_while_stages_are_killed(engine):
    await ask_one(engine, 1)
    mode, draw, killed = engine.warm_modes()["eng-spa"], random.Random(7), 0
    for begin in range(1_000, 1_600, 200):
        numbers = range(begin, begin + 200)
        asked = [asyncio.create_task(ask_one(engine, number)) for number in numbers]
        await until(lambda: mode.shared.live.in_flight or all(task.done() for task in asked))  # noqa: B023
        os.kill(draw.choice(mode.shared.live.pids), signal.SIGKILL)
        killed += 1
        assert await asyncio.gather(*asked) == expected(numbers)
    assert killed == 3


async def test_a_killed_middle_stage_is_restarted_and_the_others_are_gone(engine):
    await ask_one(engine, 1)
    first = engine.warm_modes()["eng-spa"].shared.live
    os.kill(first.pids[5], signal.SIGKILL)
    await until(lambda: not any(map(alive, first.pids)))
    assert await ask_one(engine, 2) == expected([2])[0]
    assert engine.warm_modes()["eng-spa"].shared.live is not first


async def test_work_that_is_cancelled_frees_the_engine(engine):
    await ask_one(engine, 1)
    pipeline = engine.warm_modes()["eng-spa"].shared.live
    work = asyncio.create_task(translated(engine, EN_ES, *numbered(range(4_000))))
    await until(lambda: pipeline.answered > 5)
    work.cancel()
    await until(lambda: work.done() and pipeline.in_flight == 0)
    assert pipeline.answered < 2_000
    assert await ask_one(engine, 3) == expected([3])[0]


async def test_a_pair_is_opened_on_first_use_and_closed_when_idle():
    async with open_apertium(LanguageSet.BASE, idle=timedelta(milliseconds=100)) as engine:
        assert engine.warm_modes() == {}
        await translated(engine, Pair("fr", "es"), "maison")
        (mode,) = engine.warm_modes().values()
        pids = mode.shared.live.pids
        await until(lambda: not any(map(alive, pids)))


async def test_the_identity_names_engine_and_data_and_is_stable(engine):
    chain = Pair("en", "pt")
    identity = await engine.identity(chain)
    assert identity == await engine.identity(chain)
    assert identity.startswith("apertium-3.")
    direct = (await engine.identity(EN_ES)).split("/")[1]
    assert identity.split("/")[1] == direct
    assert len({await engine.identity(pair) for pair in chains(LanguageSet.EXTENDED)}) == len(
        chains(LanguageSet.EXTENDED)
    )


async def test_other_data_is_another_identity(tmp_path, engine):
    data = tmp_path / "x.bin"
    digests = []
    for content in (b"one", b"two"):
        data.write_bytes(content)
        for chain in chains(LanguageSet.BASE).values():
            (tmp_path / f"{chain.modes[0]}.mode").write_text(f"lt-proc $1 {data}")
        async with open_apertium(LanguageSet.BASE, folder=tmp_path) as other:
            digests.append(await other.identity(EN_ES))
    assert len({*digests, await engine.identity(EN_ES)}) == 3


async def test_missing_modes_are_refused_before_anything_starts(tmp_path):
    with pytest.raises(EngineMissingError, match="apt-get install -y apertium-eng-spa apertium-fr-es"):
        async with open_apertium(LanguageSet.BASE, folder=tmp_path):
            raise AssertionError("it must not open")


async def test_broken_data_is_a_failure_of_the_text_not_of_the_process(tmp_path):
    for chain in chains(LanguageSet.BASE).values():
        (tmp_path / f"{chain.modes[0]}.mode").write_text("lt-proc $1 /no/such/file.bin")
    async with open_apertium(LanguageSet.BASE, folder=tmp_path) as engine:
        (outcome,) = await translated(engine, EN_ES, "house")
        assert isinstance(outcome, Failed)
