"""WordPiece step by step: its Python twin, and what it alone does on a page."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import expect

from lib.tokenizer import Tokenizer
from lib.widgets.wordpiece_steps import MAX_WORDS, WordPieceSteps, shown, wordpiece_steps, words_of
from tests.lib.widgets.cases.wordpiece_steps import READERS, TEXTS, TOKENIZERS, State, steps, tokenizer_of
from tests.lib.widgets.shared import HOSTILE, run_node, stored


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", READERS)
def test_twin_gives_the_tokens_of_the_tokenizer(text, name):
    result = shown(text, READERS[name])
    assert result.tokens == READERS[name].tokenize(text)
    assert [READERS[name].vocabulary[i] for i in result.ids] == result.tokens


@pytest.mark.parametrize("k", range(len(TOKENIZERS)))
def test_what_the_page_carries_of_a_tokenizer_makes_it_again(k):
    reader = stored(steps())["readers"][k]
    again = tokenizer_of(tuple(reader["vocabulary"]), reader["lowercase"], reader["strip_accents"])
    assert [shown(text, again) for text in TEXTS] == [shown(text, TOKENIZERS[k]) for text in TEXTS]


def run_words_of(texts, reader):
    words = "given[0].map((text) => wordsOf(text, given[1]))"
    return run_node(WordPieceSteps._esm, words, [texts, {**reader, "vocabulary": []}])


@pytest.mark.parametrize("name", READERS)
def test_every_old_character_is_read_as_the_library_reads_it(name):
    # The library's own tables are of an older Unicode than a browser's: what both know is in Unicode 3.2.
    old = unicodedata.ucd_3_2_0.category
    known = [
        chr(c)
        for c in range(1, 0x10000)
        if not 0xD800 <= c < 0xF900 and old(chr(c)) == unicodedata.category(chr(c)) != "Cn"
    ]
    known = [c for c in known if not 0x3400 < ord(c) < 0xA000 or ord(c) % 50 == 0]  # ideographs: a sample
    texts = [f"a{c}b" for c in known]
    index = list(READERS).index(name)
    page = run_words_of(texts, wordpiece_steps(READERS).widget.readers[index])
    assert len(texts) > 9_000
    # One call for all of them, with a mark between: each call saves and loads the tokenizer.
    lib = iter(words_of("\n".join(f"{text}\nQ" for text in texts), READERS[name]))
    end = "Q" if name == "Com acentos" else "q"
    wrong = []
    for text, says in zip(texts, page, strict=True):
        expected = list(iter(lambda: next(lib), end))  # up to the mark
        if says != expected:
            wrong.append((text, says, expected))
    assert wrong == []


@settings(max_examples=6)
@given(
    st.lists(
        st.text("aáâãàeéêçoõuüñÑÇÃ \u0301\u0303\u0327\t.,!?-'\"0#[]MASKß", max_size=30),
        min_size=40,
        max_size=40,
    )
)
def test_random_texts_are_split_as_the_library_splits_them(texts):
    for reader, tokenizer in zip(wordpiece_steps(READERS).widget.readers, READERS.values(), strict=True):
        assert run_words_of(texts, reader) == [words_of(text, tokenizer) for text in texts]


def test_some_hostile_texts_are_too_short_or_too_long():
    counts = [len(words_of(text, TOKENIZERS[0])) for text in HOSTILE]
    assert sum(not 1 <= count <= MAX_WORDS for count in counts) >= 3


def test_minilm_and_a_single_tokenizer_are_accepted():
    [reader] = wordpiece_steps(Tokenizer.minilm()).widget.readers
    assert reader["strip_accents"] and reader["lowercase"] and not reader["nfc"]
    assert len(reader["vocabulary"]) == 30_522


def test_buttons_walk_through_every_step(show):
    [followed] = show(steps())
    last = len(followed.expected().pieces.steps)
    back = followed.panel.get_by_role("button", name="Passo anterior")
    forward = followed.panel.get_by_role("button", name="Próximo passo")
    expect(back).to_be_disabled()
    assert last > 5
    for step in range(2, last + 1):
        forward.click()
        followed.state = State(0, TEXTS[0], 0, step)
        assert followed.differences() == []
    expect(forward).to_be_disabled()
    back.click()
    followed.state = State(0, TEXTS[0], 0, last - 1)
    assert followed.differences() == []
