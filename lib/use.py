"""A model in use: one call for each thing that one asks of it.

    encode(model, tokenizer, "O banco aprovou.")                  a vector for each token
    word_vector(model, tokenizer, "O banco aprovou.", "banco")    a vector for one word
    attention_maps(model, tokenizer, "O banco aprovou.")          who looks at whom, in every head
    fill_mask(model, tokenizer, "a [MASK] madura")                the likeliest words, with probabilities
    train_classifier(model, tokenizer, texts, labels)             then classify(classifier, tokenizer, texts)
    train_tagger(model, tokenizer, sentences, tags)               then tag(tagger, tokenizer, words)

`lib.weights` loads and saves the pair (model, tokenizer); `lib.parameters.count(model)` counts.
"""

from collections.abc import Sequence
from dataclasses import replace
from string import punctuation
from typing import NamedTuple

import torch
from torch import Tensor

from lib import checks
from lib.attention import Trace
from lib.corpus.porttinari import TaggedSentence
from lib.encoder import Encoder
from lib.heads import FineTuned, Head, MaskedLM, SequenceHead, TokenHead
from lib.losses import IGNORE_INDEX
from lib.tokenizer import EncodedBatch, Tokenizer
from lib.training.examples import tagged
from lib.training.fine_tuning import Labelled, fine_tune, predict
from lib.vocabulary import MASK
from lib.weights import Model

WORDS = "a list of words: text.split(), for instance"
BERT_BASE, BERT_RATE = 768, 5e-5  # a width, and the learning rate that Devlin (2019) fine-tunes it with


class Guess(NamedTuple):
    word: str
    probability: float


class AttentionMaps(NamedTuple):
    tokens: list[str]
    weights: Tensor  # (L, h, N, N): the row of a query adds up to 1


@torch.no_grad()
def encode(model: Model, tokenizer: Tokenizer, text: str, pair: str | None = None) -> Tensor:
    """Hidden states (N, d) of a text, or of a pair: one row per token, [CLS] first, [SEP] last."""
    ids, segments = _row(model, tokenizer, text, pair)
    return _encoder(model)(ids, segments=segments)[0]


@torch.no_grad()
def word_vector(model: Model, tokenizer: Tokenizer, text: str, word: str) -> Tensor:
    """The hidden state (d,) of the first occurrence of `word` in `text`, averaged over its subwords."""
    checks.instance("word", word, str)
    words = _tokenizer(tokenizer).encode(text).words
    # A tokenizer such as XLM-R's keeps the punctuation mark at a word's end with it.
    same = {w: (w.text.lower(), w.text.lower().strip(punctuation)) for w in words}
    found = next((w for w in words if word.lower() in same[w]), None)
    if found is None:
        raise ValueError(f"word {word!r} does not occur in text {text!r}")
    return encode(model, tokenizer, text)[found.start : found.stop].mean(0)  # (d,)


@torch.no_grad()
def attention_maps(model: Model, tokenizer: Tokenizer, text: str, pair: str | None = None) -> AttentionMaps:
    """The attention weights of every layer and head on a text."""
    ids, segments = _row(model, tokenizer, text, pair)
    _encoder(model)(ids, segments=segments, trace=(trace := Trace()))
    tokens = tokenizer.encode(text, pair).tokens
    return AttentionMaps(tokens, torch.stack([weights[0] for weights in trace.weights]))


@torch.no_grad()
def fill_mask(model: MaskedLM, tokenizer: Tokenizer, text: str, top: int = 5) -> list[list[Guess]]:
    """For each [MASK] of the text, the `top` likeliest tokens in its place, with their probabilities."""
    if not isinstance(model, MaskedLM):
        told = f"got {type(model).__name__}, which has none: load a model that was saved with its head"
        raise TypeError(f"model must have an MLM head to fill a mask, {told}")
    _in_evaluation(model)
    vocabulary = _tokenizer(tokenizer).vocabulary
    shown = checks.instance("text", text, str).replace("[MASK]", vocabulary.special_tokens[MASK])
    ids, _ = _row(model, tokenizer, shown)
    gaps = (ids[0] == vocabulary.mask_id).nonzero().flatten()
    if not len(gaps):
        raise ValueError(
            f'text must hold [MASK] where a word is missing, as in "a [MASK] madura"; got {text!r}'
        )
    p = model(ids)[0, gaps, : len(vocabulary)].softmax(-1)  # (gaps, V)
    best = p.topk(min(checks.integer("top", top, 1), len(vocabulary)))
    return [
        [Guess(tokenizer.decode([i], skip_special=False).strip(), p) for i, p in zip(*row, strict=True)]
        for row in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]


def train_classifier(
    model: Model, tokenizer: Tokenizer, texts: Sequence[str], labels: Sequence[str], **options
) -> FineTuned:
    """A classifier of whole texts, fine-tuned on `texts` and the label of each; `model` stays as it is.

    `options` are those of `lib.training.fine_tune`: epochs, batch, lr, freeze, seed.
    """
    names, numbers = _numbered("texts", texts, labels)
    rows = _rows(model, tokenizer, texts)
    examples = Labelled(rows.ids, rows.attention_mask, torch.tensor(numbers))
    return _fine_tuned(model, SequenceHead, names, examples, options)


def train_tagger(
    model: Model,
    tokenizer: Tokenizer,
    sentences: Sequence[Sequence[str]],
    tags: Sequence[Sequence[str]],
    **options,
) -> FineTuned:
    """A tagger of words, fine-tuned on `sentences`, lists of words, and the tag of each word."""
    checks.several("sentences", sentences, Sequence, "a list of lists of words")
    checks.several("tags", tags, Sequence, "a list of lists of tags")
    for words in sentences:
        checks.several("each of the sentences", words, Sequence, WORDS)
    if len(sentences) != len(tags) or any(len(w) != len(t) for w, t in zip(sentences, tags, strict=True)):
        raise ValueError(
            "tags must be one per word: as many lists as sentences, each as long as its sentence"
        )
    names, _ = _numbered(
        "words", [w for words in sentences for w in words], [t for some in tags for t in some]
    )
    pairs = [
        TaggedSentence("", "", tuple(w), tuple(map(str, t))) for w, t in zip(sentences, tags, strict=True)
    ]
    examples = tagged(pairs, _tokenizer(tokenizer), names, _encoder(model).config.max_length)
    return _fine_tuned(model, TokenHead, names, examples, options)


def classify(model: FineTuned, tokenizer: Tokenizer, texts: Sequence[str]) -> list[str]:
    """The likeliest label of each text."""
    names = _class_names(model, SequenceHead, "train_classifier")
    rows = _rows(model, tokenizer, texts)
    examples = Labelled(rows.ids, rows.attention_mask, torch.zeros(len(rows.ids), dtype=torch.long))
    return [names[i] for i in predict(model, examples).tolist()]


def tag(model: FineTuned, tokenizer: Tokenizer, words: Sequence[str]) -> list[str]:
    """The likeliest tag of each word of one sentence."""
    names = _class_names(model, TokenHead, "train_tagger")
    if not len(checks.several("words", words, Sequence, WORDS)):
        raise ValueError("words must hold at least one word, got none")
    sentence = TaggedSentence("", "", tuple(words), (names[0],) * len(words))
    longest = model.encoder.config.max_length
    examples = tagged([sentence], _tokenizer(tokenizer), names, longest)
    first = examples.target[0] != IGNORE_INDEX  # the first piece of each word
    if int(first.sum()) < len(words):
        raise ValueError(f"words must fit the model's {longest} positions, got {len(words)}")
    return [names[i] for i in predict(model, examples)[0, first].tolist()]


# What the calls share


def _encoder(model: Model) -> Encoder:
    encoder = getattr(model, "encoder", model)
    if not isinstance(encoder, Encoder):
        told = f"got {type(model).__name__}: load one with lib.weights.load(folder)"
        raise TypeError(f"model must be an Encoder or a model that stands on one, {told}")
    return _in_evaluation(encoder)


def _in_evaluation(model):
    if model.training:
        raise ValueError("model must be in evaluation mode to be used: call model.eval() first")
    return model


def _tokenizer(tokenizer: Tokenizer) -> Tokenizer:
    return checks.instance("tokenizer", tokenizer, Tokenizer, "the one that was saved with the model")


def _row(
    model: Model, tokenizer: Tokenizer, text: str, pair: str | None = None
) -> tuple[Tensor, Tensor | None]:
    """The ids of one text or pair, (1, N), and for a pair its segments."""
    checks.instance("text", text, str, "of many, one call for each")
    encoder, encoding = _encoder(model), _tokenizer(tokenizer).encode(text, pair)
    segments = (
        torch.tensor([encoding.segment_ids]) if pair is not None and encoder.config.segments > 1 else None
    )
    return torch.tensor([encoding.ids]), segments


def _rows(model: Model, tokenizer: Tokenizer, texts: Sequence[str]) -> EncodedBatch:
    """Many texts, each cut where the positions of the model end."""
    return _tokenizer(tokenizer).encode_batch(texts, max_length=_encoder(model).config.max_length)


def _numbered(name: str, given: Sequence[str], labels: Sequence[str]) -> tuple[tuple[str, ...], list[int]]:
    """The different labels, sorted, and the place of each example's label among them."""
    checks.several(name, given, Sequence, "a list of strings")
    checks.several("labels", labels, Sequence, f"a list of labels, one for each of the {name}")
    if len(labels) != len(given):
        raise ValueError(f"labels must be one for each of the {len(given)} {name}, got {len(labels)}")
    if odd := [label for label in labels if isinstance(label, bool) or not isinstance(label, str | int)]:
        raise TypeError(f"labels must be names or numbers of classes, got {odd[0]!r}")
    names = tuple(sorted(set(map(str, labels))))
    if len(names) < 2:
        raise ValueError(f"labels must hold at least two different classes, got {list(names)}")
    return names, [names.index(str(label)) for label in labels]


def _fine_tuned(
    model: Model, head: type[Head], labels: tuple[str, ...], examples: Labelled, options: dict
) -> FineTuned:
    """A copy of the encoder under a fresh head, trained on the examples."""
    old = _encoder(model)
    if old.config.causal and head.pooled:
        raise ValueError("model must not be causal to classify a text: its [CLS] sees nothing of it")
    config = replace(old.config, pooler=head.pooled or old.config.pooler)
    with torch.random.fork_rng():
        torch.manual_seed(options.get("seed", 0))
        encoder, fresh = Encoder(config), head(config, len(labels))
    encoder.load_state_dict(old.state_dict(), strict=False)  # a new pooler is all that may be missing
    options = {"lr": BERT_RATE * (BERT_BASE / config.d) ** 1.5} | options  # a narrow model wants larger steps
    model = fine_tune(encoder, fresh, examples, **options)
    return FineTuned(model.encoder, model.head, labels).eval()


def _class_names(model: FineTuned, head: type[Head], made_by: str) -> tuple[str, ...]:
    if not isinstance(model, FineTuned) or not isinstance(model.head, head):
        given = f"a {type(model.head).__name__}" if isinstance(model, FineTuned) else type(model).__name__
        raise TypeError(f"model must be what {made_by} gives, got {given}")
    return model.labels or tuple(f"LABEL_{i}" for i in range(model.head.W.out_features))
