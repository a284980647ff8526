"""The sequence of calls: its shares, its misses, its mistakes."""

from itertools import islice

import pytest

from services.loadgen.mix import V1_PAIRS, Call, Mix, MixError, Pair, calls, parse_pairs


def taken(mix: Mix, amount: int, seed: int = 1) -> list[Call]:
    return list(islice(calls(mix, seed), amount))


def test_same_seed_same_calls_and_another_seed_other_fresh_texts() -> None:
    mix = Mix(hot_share=0)
    assert taken(mix, 200) == taken(mix, 200)
    first, second = ({call.text for call in taken(mix, 500, seed)} for seed in (1, 2))
    assert len(first & second) < 25


def test_fresh_texts_never_repeat() -> None:
    sent = taken(Mix(hot_share=0), 10_000)
    assert len({(call.language, call.text) for call in sent if call.target == "es"}) == sum(
        call.target == "es" for call in sent
    )


def test_hot_texts_repeat_by_zipf() -> None:
    sent = [call.text for call in taken(Mix(pairs=(Pair("en", "es"),), hot_share=1, hot_texts=50), 5_000)]
    counts = sorted((sent.count(text) for text in set(sent)), reverse=True)
    assert len(counts) == 50
    assert 1.4 < counts[0] / counts[1] < 2.8


@pytest.mark.parametrize(
    ("mix", "share"),
    [
        pytest.param(Mix(detect_share=0.25), lambda call: not call.source, id="without source language"),
        pytest.param(Mix(hot_share=0.25), lambda call: call.hot, id="hot"),
        pytest.param(Mix(stream_share=0.25), lambda call: call.stream, id="streams"),
        pytest.param(
            Mix(pairs=(Pair("en", "es", 1), Pair("fr", "es", 3))),
            lambda call: call.language == "en",
            id="weight of a pair",
        ),
    ],
)
def test_shares_are_kept(mix: Mix, share) -> None:
    sent = taken(mix, 4_000)
    assert abs(sum(map(share, sent)) / len(sent) - 0.25) < 0.035


def test_a_named_source_is_the_true_language_and_streams_have_several_sentences() -> None:
    for call in taken(Mix(stream_share=0.5), 500):
        assert call.source in ("", call.language)
        assert call.text.count(". ") == (2 if call.stream else 0)


def test_default_pairs_are_those_of_v1() -> None:
    assert [str(pair) for pair in V1_PAIRS] == ["en>es", "es>en", "fr>es", "es>fr"]


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        pytest.param("en>es", (Pair("en", "es"),), id="one"),
        pytest.param("en:es=3, fr>es", (Pair("en", "es", 3), Pair("fr", "es")), id="weight, colon, blank"),
    ],
)
def test_pairs_are_read(text: str, pairs: tuple[Pair, ...]) -> None:
    assert parse_pairs(text) == pairs


def test_all_mistakes_of_pairs_at_once() -> None:
    with pytest.raises(MixError) as caught:
        parse_pairs("en,es>fr=many,>es,en>es")
    assert len(caught.value.args) == 3


def test_all_mistakes_of_a_mix_at_once() -> None:
    with pytest.raises(MixError) as caught:
        Mix(
            pairs=(Pair("xx", "es"), Pair("en", "es", 0)),
            detect_share=2,
            hot_share=-1,
            stream_share=1.5,
            hot_texts=0,
            zipf=-1,
            stream_sentences=0,
        )
    assert len(caught.value.args) == 8


@pytest.mark.parametrize(
    ("mistake", "says"),
    [
        pytest.param({"pairs": ()}, "at least one pair", id="no pair"),
        pytest.param({"max_sentence_chars": 5}, "fewer than", id="no sentence is that short"),
    ],
)
def test_an_impossible_mix_is_refused(mistake: dict, says: str) -> None:
    with pytest.raises(MixError, match=says):
        Mix(**mistake)
