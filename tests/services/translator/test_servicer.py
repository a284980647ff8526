"""How do the translator's calls behave on the wire? Real gRPC, real Apertium, real detector and cache."""

import asyncio
import contextlib
from types import SimpleNamespace

import grpc
import pytest
import pytest_asyncio
from tidegate.translation.v1 import translation_pb2 as pb

from services.translator.languages import LanguageSet
from services.translator.metrics import SENTENCES
from tests.support.mesh_wait import until
from tests.support.svc_probe import failure
from tests.support.svc_workload import cache_proxy, lang_detector, translator

pytestmark = [pytest.mark.apertium, pytest.mark.asyncio(loop_scope="module")]
MISS, LOCAL, AWAY, NONE = (
    pb.CACHE_RESULT_MISS, pb.CACHE_RESULT_HIT_LOCAL, pb.CACHE_RESULT_UNAVAILABLE, pb.CACHE_RESULT_UNSPECIFIED,
)  # fmt: skip
NOWHERE = "127.0.0.1:1"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world():
    """v1 and v2 with one detector and one cache, and a v1 whose neighbours are away."""
    async with contextlib.AsyncExitStack() as stack:
        near = {
            "detector": await stack.enter_async_context(lang_detector()),
            "cache": await stack.enter_async_context(cache_proxy()),
        }
        yield SimpleNamespace(
            v1=await stack.enter_async_context(translator("v1", **near)),
            v2=await stack.enter_async_context(translator("v2", LanguageSet.EXTENDED, **near)),
            alone=await stack.enter_async_context(translator("v1", detector=NOWHERE, cache=NOWHERE)),
            bare=await stack.enter_async_context(translator("v1")),
        )


async def cached(version, text, **fields):
    """Asks until the answer, which is stored after it was given, comes from the cache."""

    async def hit():
        (answer,) = await version.texts(text, **fields)
        return answer if answer.cache == LOCAL else None

    return await until(hit)


async def test_each_text_has_its_own_status_in_order(world):
    answers = await world.v1.texts("The house is big.", "a\0b", "", "x" * 6_000, "  Two. Lines:\n\nHere, {name}!\r\n ")
    assert [answer.status.code for answer in answers] == [0, 3, 0, 8, 0]
    assert answers[0].translated_text == "La casa es grande."
    assert "NUL" in answers[1].status.message
    assert "contents[1]" in answers[1].status.message
    assert answers[2].translated_text == ""
    assert "6,000 characters" in answers[3].status.message
    text = answers[4].translated_text
    assert text.startswith("  ")
    assert text.endswith("{name}!\r\n ")
    assert ":\n\n" in text
    assert {answer.served_by for answer in answers} == {"v1"}


@pytest.mark.parametrize("text", ["😀 👨‍👩‍👧", "123 456", "...", " \n\t", "\u202e\u202c", "{name}"[:1]])
async def test_a_text_without_a_letter_passes_through(world, text):
    for source in ("en", ""):
        (answer,) = await world.v1.texts(text, source=source)
        assert (answer.translated_text, answer.model, answer.status.code) == (text, "passthrough", 0)
        assert answer.cache == NONE


async def test_bidi_marks_and_emoji_inside_a_text_stay(world):
    (answer,) = await world.v1.texts("The \u202ehouse\u202c 😀 is big 👍🏽.")
    assert [c for c in answer.translated_text if c in "\u202e\u202c😀👍🏽"] == list("\u202e\u202c😀👍🏽")
    assert "grande" in answer.translated_text


async def test_a_second_time_is_a_hit_of_the_same_answer(world):
    (first,) = await world.v1.texts("The garden of the small zzxqy house.")
    again = await cached(world.v1, "The garden of the small zzxqy house.")
    assert first.cache == MISS
    assert again.translated_text == first.translated_text
    assert again.unknown_ratio == first.unknown_ratio > 0
    assert again.model == first.model


async def test_versions_never_read_each_others_answers(world):
    text = "The mother of the king sleeps."
    await cached(world.v1, text)
    (other,) = await world.v2.texts(text)
    assert other.cache == MISS
    assert (other.model.split("/")[-1], other.served_by) == ("v2", "v2")


async def test_a_caller_who_names_the_language_and_one_who_does_not_share_answers(world):
    text = "The people of this country want to live in freedom and peace."
    (first,) = await world.v1.texts(text, source="")
    assert (first.cache, first.detected_language_code) == (MISS, "en")
    named = await cached(world.v1, text, source="en")
    assert named.detected_language_code == ""
    (unnamed,) = await world.v1.texts(text, source="")
    assert (unnamed.cache, unnamed.detected_language_code) == (LOCAL, "en")
    assert unnamed.translated_text == named.translated_text == first.translated_text


async def test_each_text_is_detected_by_itself(world):
    answers = await world.v1.texts(
        "Where is the library of the old university?",
        "¿Dónde está la biblioteca de la vieja universidad?",
        "Où est la bibliothèque de la vieille université ?",
        "Gdzie jest biblioteka starego uniwersytetu?",
        source="",
    )
    assert [answer.detected_language_code for answer in answers[:3]] == ["en", "es", "fr"]
    assert [answer.status.code for answer in answers] == [0, 0, 0, 3]
    assert answers[1].model == "passthrough"
    assert "biblioteca" in answers[2].translated_text


async def test_the_same_language_on_both_sides_passes_through(world):
    (answer,) = await world.v1.texts("The house.", source="en", target="en-GB")
    assert (answer.translated_text, answer.model, answer.cache) == ("The house.", "passthrough", NONE)


async def test_a_domain_is_a_key_of_its_own(world):
    await cached(world.v1, "The doctor sleeps.", domain="medicine")
    (answer,) = await world.v1.texts("The doctor sleeps.", domain="law")
    assert answer.cache == MISS


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"target": "pt"}, "'pt' is not a language of this version"),
        ({"target": ""}, "target_language_code: is required"),
        ({"source": "xx"}, "'xx' is not a language of this version"),
        ({"source": "en", "target": "fr"}, "en to fr is not offered by this version"),
        ({"mime_type": "text/html"}, "'text/html' is not supported"),
    ],
)
async def test_what_cannot_be_served_is_an_invalid_argument(world, fields, sentence):
    error = await failure(world.v1.texts("a", **fields))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert sentence in error.details()


async def test_a_megabyte_is_refused_with_the_limit(world):
    error = await failure(world.v1.texts("x " * 500_000))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "at most 30,720" in error.details()


async def test_the_new_version_can_more(world):
    (direct,) = await world.v2.texts("la casa de mi padre", source="es", target="pt")
    (pivot,) = await world.v2.texts("The house of my father.", source="en", target="pt")
    assert direct.translated_text == "a casa de meu pai"
    assert "casa de meu pai" in pivot.translated_text
    assert pivot.model.count("@") == 2


async def test_without_its_neighbours_a_named_language_is_still_translated(world):
    (answer,) = await world.alone.texts("The house is big.")
    assert (answer.translated_text, answer.cache) == ("La casa es grande.", AWAY)
    error = await failure(world.alone.texts("The house is big.", source=""))
    assert error.code() is grpc.StatusCode.UNAVAILABLE
    assert "give source_language_code" in error.details()


async def test_a_process_without_neighbours_says_so(world):
    (answer,) = await world.bare.texts("The house is big.")
    assert (answer.translated_text, answer.cache) == ("La casa es grande.", NONE)
    error = await failure(world.bare.texts("The house is big.", source=""))
    assert "no language detector is configured" in error.details()


async def stream(version, content, source="en", target="es"):
    call = version.stub.StreamTranslate(
        pb.StreamTranslateRequest(content=content, source_language_code=source, target_language_code=target)
    )
    events = [event async for event in call]
    assert [event.WhichOneof("event") for event in events] == ["segment"] * (len(events) - 1) + ["final"]
    return [event.segment for event in events[:-1]], events[-1].final


async def test_a_stream_gives_sentences_and_then_the_whole(world):
    text = "  The house is big. The garden is small!\n\nWe like it.\r\n"
    segments, final = await stream(world.v1, text)
    assert [segment.index for segment in segments] == [0, 1, 2, 3]
    assert "".join(segment.source_text for segment in segments) == text
    assert "".join(segment.translated_text for segment in segments) == final.translated_text
    assert final.translated_text.startswith("  La casa es grande. El jardín es pequeño!\n\n")
    (again,) = await world.v1.texts(text)
    assert again.translated_text == final.translated_text


async def test_a_stream_of_a_known_text_is_one_segment(world):
    known = await cached(world.v1, "The river is deep. The sea is far.")
    segments, final = await stream(world.v1, "The river is deep. The sea is far.")
    assert [(segment.translated_text, segment.cache) for segment in segments] == [(known.translated_text, LOCAL)]
    assert final.cache == LOCAL


async def test_a_stream_detects_and_passes_through(world):
    _, final = await stream(world.v1, "The old house of my father is very big.", source="")
    assert final.detected_language_code == "en"
    segments, final = await stream(world.v1, "La vieja casa de mi padre es muy grande.", source="")
    assert final.model == "passthrough"
    assert len(segments) == 1


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("a\0b", "INVALID_ARGUMENT"),
        ("The house. " + "x" * 6_000, "RESOURCE_EXHAUSTED"),
        ("x" * 31_000, "INVALID_ARGUMENT"),
    ],
    ids=["NUL", "a sentence too long", "too much"],
)
async def test_a_stream_that_cannot_go_on_ends_with_its_status(world, content, code):
    with pytest.raises(grpc.aio.AioRpcError) as ended:
        await stream(world.v1, content)
    assert ended.value.code().name == code


async def test_a_client_that_hangs_up_frees_the_engine(world):
    text = "\n".join(f"Red {number}" for number in range(3_000))
    request = pb.StreamTranslateRequest(content=text, source_language_code="en", target_language_code="es")
    done = world.bare.runtime.meter[SENTENCES].labels("en-es")._value
    before = done.get()
    call = world.bare.stub.StreamTranslate(request)
    await call.read()
    call.cancel()
    (answer,) = await world.bare.texts("The garden is small.")
    assert answer.translated_text == "El jardín es pequeño."
    assert done.get() == before + 1, "the text whose caller left was not finished"


async def test_a_long_text_does_not_keep_a_short_one_waiting(world):
    long = asyncio.create_task(world.bare.texts("\n".join(f"Red {number}" for number in range(3_000))))
    for _ in range(5):
        await world.bare.texts("The garden is small.")
    assert not long.done()
    (answer,) = await long
    assert answer.translated_text.endswith("2999")


async def test_two_hundred_calls_at_once_each_get_their_own(world):
    async def one(number):
        (answer,) = await world.v1.texts(f"The house number {number} is big.")
        return answer.translated_text

    numbers = range(5_000, 5_200)
    answers = await asyncio.gather(*(one(number) for number in numbers))
    assert answers == [f"El número de casa {number} es grande." for number in numbers]


async def test_many_texts_in_one_call_keep_their_order(world):
    texts = [f"House {number}" for number in range(1_024)]
    answers = await world.v1.texts(*texts)
    assert [answer.translated_text.split()[-1] for answer in answers] == [str(number) for number in range(1_024)]


async def test_the_supported_languages(world):
    everything = await world.v1.stub.GetSupportedLanguages(pb.GetSupportedLanguagesRequest())
    names = [(lang.language_code, lang.display_name) for lang in everything.languages]
    assert names == [("en", "English"), ("es", "Spanish"), ("fr", "French")]
    assert len(everything.pairs) == 4
    english = await world.v2.stub.GetSupportedLanguages(pb.GetSupportedLanguagesRequest(source_language_code="EN-us"))
    via = {pair.target_language_code: "".join(pair.via) for pair in english.pairs}
    assert via == {
        "ca": "es", "ca-valencia": "es", "es": "", "fr": "es", "gl": "", "it": "es", "pt": "es", "pt-BR": "es",
    }  # fmt: skip
    error = await failure(
        world.v1.stub.GetSupportedLanguages(pb.GetSupportedLanguagesRequest(source_language_code="pt"))
    )
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
