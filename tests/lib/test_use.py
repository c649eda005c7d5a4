"""One call for each thing that one asks of a model, and for each natural mistake the call that was meant."""

from dataclasses import replace

import pytest
import torch
import transformers

from lib import models
from lib.attention import Trace
from lib.encoder import Config, Encoder
from lib.heads import FineTuned, MaskedLM, PairsLM, SequenceHead, TokenHead
from lib.parameters import count
from lib.tokenizer import Tokenizer
from lib.training import fine_tune, labelled
from lib.use import (
    attention_maps,
    classify,
    encode,
    fill_mask,
    tag,
    train_classifier,
    train_tagger,
    word_vector,
)
from lib.weights import load, save
from tests.refusals import refuses

TOKENIZER = Tokenizer(["o", "gat", "##inho", "dorme", "e", "corre"])
CONFIG = Config(TOKENIZER.size, d=16, layers=2, heads=2, positions=16)
torch.manual_seed(0)
MODEL = PairsLM(CONFIG).eval()
ENCODER = MODEL.encoder
TEXT = "o gatinho dorme"
IDS = torch.tensor([TOKENIZER.encode(TEXT).ids])
SLEEPS, RUNS = ["o gatinho dorme", "dorme o gatinho"], ["o gatinho corre", "corre o gatinho"]


def test_a_text_is_a_row_of_vectors_from_any_model():
    with torch.no_grad():
        hidden = ENCODER(IDS)[0]
    for model in (ENCODER, MODEL, FineTuned(ENCODER, SequenceHead(CONFIG, 2)).eval()):
        assert torch.equal(encode(model, TOKENIZER, TEXT), hidden)
    pair = TOKENIZER.encode("o", "e")
    with torch.no_grad():
        expected = ENCODER(torch.tensor([pair.ids]), segments=torch.tensor([pair.segment_ids]))[0]
    assert torch.equal(encode(MODEL, TOKENIZER, "o", "e"), expected)


@pytest.mark.guards("05.s8")
def test_the_vector_of_a_word_is_the_mean_over_its_subwords():
    hidden = ENCODER(IDS)[0]
    expected = (hidden[2] + hidden[3]) / 2  # [CLS] o gat ##inho dorme [SEP]
    torch.testing.assert_close(word_vector(ENCODER, TOKENIZER, TEXT, "Gatinho"), expected)


def test_attention_maps_are_those_of_the_encoder():
    ENCODER(IDS, trace=(trace := Trace()))
    maps = attention_maps(MODEL, TOKENIZER, TEXT)
    assert maps.tokens == TOKENIZER.encode(TEXT).tokens
    assert torch.equal(maps.weights, torch.cat(trace.weights))  # (L, h, N, N)
    torch.testing.assert_close(maps.weights.sum(-1), torch.ones(maps.weights.shape[:-1]))


def test_each_gap_gets_its_own_words(tmp_path):
    """As the pipeline of transformers fills them."""
    text = "o [MASK] dorme e [MASK]"
    told = transformers.pipeline("fill-mask", str(save(tmp_path, MODEL, TOKENIZER)), top_k=3)(text)
    mine = fill_mask(MODEL, TOKENIZER, text, top=3)
    assert [[g.word for g in gap] for gap in mine] == [[g["token_str"] for g in gap] for gap in told]
    scores = [[g.probability for g in gap] for gap in mine]
    assert scores == [pytest.approx([g["score"] for g in gap], abs=1e-6) for gap in told]
    assert all(1 > first >= second >= third > 0 for first, second, third in scores)


def test_the_parameters_of_a_model_are_counted_by_part():
    tagger = FineTuned(Encoder(CONFIG), TokenHead(CONFIG, 5))
    for model in (ENCODER, MODEL, tagger):
        assert count(model).total == sum(p.numel() for p in model.parameters())
    assert count(ENCODER) == count(CONFIG) and count(MaskedLM(CONFIG)) == count(CONFIG, mlm_head=True)
    assert count(tagger).head == 5 * CONFIG.d + 5


@pytest.mark.slow
def test_a_classifier_learns_from_lists_and_travels(tmp_path):
    model, tokenizer = load(models.FOLDER / "masked")
    before = encode(model, tokenizer, "a manga madura caiu")
    told = ("manga madura", "manga rasgada", "goiaba madura", "blusa rasgada")
    texts = [f"a {what} caiu" for what in told] * 4
    names = ["fruta", "roupa"] * 8
    classifier = train_classifier(model, tokenizer, texts, names, epochs=15)
    assert classify(classifier, tokenizer, texts) == names and classifier.labels == ("fruta", "roupa")
    assert torch.equal(encode(model, tokenizer, "a manga madura caiu"), before), "the model stays as it is"
    told = transformers.pipeline("text-classification", str(save(tmp_path, classifier, tokenizer)))(texts)
    assert [each["label"] for each in told] == names
    assert classify(*load(tmp_path), texts) == names


@pytest.mark.slow
def test_a_tagger_learns_from_lists_and_travels(tmp_path):
    words, tags = [text.split() for text in (*SLEEPS, *RUNS)], []
    tags = [
        ["V" if word in ("dorme", "corre") else "N" if len(word) > 1 else "D" for word in row]
        for row in words
    ]
    tagger = train_tagger(ENCODER, TOKENIZER, words, tags, epochs=60, lr=5e-3)
    assert [tag(tagger, TOKENIZER, row) for row in words] == tags
    told = transformers.pipeline("token-classification", str(save(tmp_path, tagger, TOKENIZER)))(SLEEPS[0])
    assert [each["entity"] for each in told if not each["word"].startswith("##")] == tags[0]


def fit(texts=SLEEPS, labels=("a", "b"), **options):
    return train_classifier(ENCODER, TOKENIZER, texts, labels, **options)


test_a_natural_mistake_is_told_the_right_call = refuses(
    (lambda: ENCODER(TOKENIZER.encode(TEXT)), r"got Encoding: a text is read by lib\.use\.encode"),
    (lambda: ENCODER(TEXT), r"got str: a text is read by lib\.use\.encode"),
    (lambda: encode(TOKENIZER, MODEL, TEXT), r"model must be an Encoder .* lib\.weights\.load"),
    (lambda: encode(MODEL, None, TEXT), "tokenizer must be of type Tokenizer, got None"),
    (
        lambda: fill_mask(ENCODER, TOKENIZER, "o [MASK]"),
        "model must have an MLM head to fill a mask, got Encoder",
    ),
    (lambda: SequenceHead(CONFIG, ["a", "b"]), "labels must be a number of classes, here 2"),
    (lambda: fine_tune(ENCODER, TEXT, ["a", "b"]), r"lib\.use\.train_classifier"),
    (lambda: labelled([[1], [2]], [0, 1]), r"target must be a tensor .* lib\.use\.train_classifier"),
    (lambda: classify(ENCODER, TOKENIZER, SLEEPS), "model must be what train_classifier gives, got Encoder"),
    (lambda: tag(fit(epochs=1), TOKENIZER, ["o"]), "must be what train_tagger gives, got a SequenceHead"),
    (lambda: encode(MODEL, TOKENIZER, [TEXT]), "must be of type str, got .*: of many, one call"),
    (lambda: word_vector(MODEL, TOKENIZER, TEXT, ["o"]), "word must be of type str"),
    (lambda: train_tagger(ENCODER, TOKENIZER, ["o", "e"], ["D", "C"]), r"a list of words: text\.split\(\)"),
    (lambda: count("bert-base"), "model must be of type Config"),
    (lambda: fit(texts=TEXT), "texts must be a list of strings"),
    (lambda: fit(labels=[1.5, None]), "labels must be names or numbers of classes, got 1.5"),
    error=TypeError,
)
test_a_wrong_value_is_named = refuses(
    (lambda: word_vector(ENCODER, TOKENIZER, TEXT, "banco"), "word 'banco' does not occur"),
    (lambda: fill_mask(MODEL, TOKENIZER, TEXT), r"text must hold \[MASK\] where a word is missing"),
    (lambda: fill_mask(MODEL, TOKENIZER, "o [MASK]", top=0), "top must be an integer of at least 1"),
    (lambda: encode(MODEL, TOKENIZER, "o " * 99), "the model has positions for 16: shorten the text"),
    (lambda: fit(labels=["a"]), "labels must be one for each of the 2 texts, got 1"),
    (lambda: fit(labels=["a", "a"]), "labels must hold at least two different classes"),
    (lambda: train_tagger(ENCODER, TOKENIZER, [["o"]], [["D", "N"]]), "tags must be one per word"),
    (lambda: FineTuned(ENCODER, SequenceHead(CONFIG, 2), ["a"]), "labels must name 2 different classes"),
    (lambda: tag(FineTuned(ENCODER, TokenHead(CONFIG, 2)).eval(), TOKENIZER, []), "at least one word"),
    (
        lambda: train_classifier(Encoder(replace(CONFIG, causal=True)).eval(), TOKENIZER, SLEEPS, ["a", "b"]),
        "model must not be causal to classify a text",
    ),
    (lambda: encode(PairsLM(CONFIG), TOKENIZER, TEXT), "evaluation mode to be used"),
)
