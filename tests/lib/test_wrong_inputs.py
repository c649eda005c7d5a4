"""Wrong inputs of every kind to every public function of the encoder's modules.

Each call is right but for one argument. The error must be ours, a sentence that names that argument: not one
from deep inside a library, not an AttributeError, and never a result with a NaN in it.
"""

import math
import re
import traceback
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from lib import attention, corruption, generation, heads, losses, pairs, parameters, tokenizer, weights
from lib.attention import Trace
from lib.encoder import Config, Encoder
from lib.presets import preset
from lib.vocabulary import SPECIAL_TOKENS, Vocabulary
from tests.randomness import seeded

LIB = Path(attention.__file__).parent
SMALL = Config(20, d=8, layers=2, heads=2, positions=16)
ENCODER, CAUSAL = Encoder(SMALL).eval(), heads.CausalLM(replace(SMALL, causal=True)).eval()
IDS = torch.randint(5, 20, (2, 6), generator=seeded())
LABELS = torch.where(IDS > 9, IDS, -100)
REAL = torch.ones(2, 6, dtype=torch.bool)
Q = torch.randn(2, 3, 4, generator=seeded())
SCORES = Q.reshape(2, 12)[:, :6]
VOCABULARY = Vocabulary.of_size(20)
PAIRS = [pairs.SentencePair([5], [6], 0)]
WORDS = tokenizer.Tokenizer(["o", "gat", "##o"])
NAN = math.nan

# Values that an argument of each kind must refuse.
TENSOR = (None, "x", [[1.0]], 3)
FLOATS = (*TENSOR, Q.long(), Q * NAN)
INTEGERS = (*TENSOR, IDS.float(), IDS + 20, IDS - 20, IDS[0, 0])
BOOLEANS = ("x", [True], IDS.float(), REAL[:, :5], 3)
COUNT = (None, "x", 1.5, True, NAN, -1)
SHARE = (None, "x", NAN, math.inf, -0.1, 1.1)
FLAG = ("x", 1, 0.5)
SOURCE = (None, 0, "x")
OBJECT = (None, "x", 5)


def cases():
    """(function, right arguments, {argument: wrong values})."""
    qkv = {"q": Q, "k": Q, "v": Q}
    wrong_qkv = dict.fromkeys("qkv", FLOATS) | {"mask": (torch.ones(3, 3), [[True]], torch.ones(4, 4) > 0)}
    yield attention.causal_mask, {"n": 3}, {"n": COUNT}
    yield attention.padding_mask, {"lengths": [1, 2]}, {"lengths": (None, "x", [1.5], [-1]), "n": COUNT[1:]}
    yield attention.additive, {"mask": REAL}, {"mask": (*TENSOR, Q), "dtype": ("float32", torch.long)}
    yield attention.boolean, {"additive_mask": Q * 0}, {"additive_mask": (*FLOATS, REAL)}
    yield attention.softmax, {"scores": Q}, {"scores": FLOATS}
    yield attention.attention, qkv, wrong_qkv | {"scale": ("x", NAN)}
    yield attention.fused_attention, qkv, wrong_qkv | {"dropout": SHARE, "causal": (None, *FLAG)}
    sizes = dict.fromkeys(("vocab_size", "d", "layers", "heads", "positions"), (*COUNT, 0))
    yield Config, {"vocab_size": 20}, sizes | {"segments": COUNT}
    flags = ("causal", "pre_norm", "embedding_norm", "pooler", "count_real_positions")
    others = {"dropout": (*SHARE, True, 1.0), "norm_eps": (*SHARE, 0.0), "activation": (*OBJECT, ["gelu"])}
    others |= {"pad_id": (*COUNT[1:], 20), "d_ff": COUNT[1:]}
    yield Config, {"vocab_size": 20}, dict.fromkeys(flags, FLAG) | others
    yield preset, {"name": "minilm"}, {"name": (*OBJECT, ["minilm"])}
    yield Encoder, {"config": SMALL}, {"config": (*OBJECT, "bert-base")}
    optional = {"segments": INTEGERS[1:], "positions": INTEGERS[1:], "mask": BOOLEANS}
    call = {"ids": INTEGERS, "causal": FLAG, "trace": ("x", [], Trace([Q]))} | optional
    yield ENCODER, {"ids": IDS}, call
    yield ENCODER.pooler, {"hidden": torch.randn(2, 3, 8)}, {"hidden": (*FLOATS, torch.zeros(2, 8))}

    mlm = heads.MaskedLM(SMALL)
    yield mlm.loss, {"ids": IDS, "labels": LABELS}, {"ids": INTEGERS, "labels": INTEGERS, "mask": BOOLEANS}
    yield CAUSAL.loss, {"ids": IDS}, {"ids": INTEGERS, "mask": (*BOOLEANS, torch.ones(2, 6, 6) > 0)}
    table = mlm.encoder.embeddings.token.weight
    yield mlm.head, {"hidden": torch.randn(2, 8), "E": table}, {"hidden": FLOATS[:4], "E": FLOATS}
    yield heads.CausalLM, {"config": CAUSAL.encoder.config}, {"config": OBJECT}
    for head in (heads.SequenceHead(SMALL, 3), heads.PairHead(SMALL), heads.NSPHead(SMALL)):
        yield head, {"pooled": torch.randn(2, 8)}, {"pooled": (*FLOATS, torch.zeros(2, 3, 8))}
    for head in (heads.TokenHead(SMALL, 3), heads.SpanHead(SMALL)):
        yield head, {"hidden": torch.randn(2, 3, 8)}, {"hidden": (*FLOATS, torch.zeros(2, 8))}
    words = {"hidden": torch.randn(2, 6, 8), "words": IDS}
    wrong = {"hidden": (*FLOATS[:4], torch.zeros(2, 8), torch.zeros(2, 6, 4))}
    yield heads.WordHead(SMALL, 3), words, wrong | {"words": (*TENSOR, IDS.float(), IDS[:, :3])}
    yield heads.SequenceHead, {"config": SMALL, "labels": 2}, {"labels": (*COUNT, 0)}
    linear, wide = torch.nn.Linear(8, 2), heads.NSPHead(replace(SMALL, d=16))
    fine_tuned = {"encoder": ENCODER, "head": heads.NSPHead(SMALL)}
    yield heads.FineTuned, fine_tuned, {"encoder": OBJECT, "head": (*OBJECT, linear, wide)}
    scores = {"start": SCORES, "end": SCORES, "allowed": REAL}
    spans = (*TENSOR, torch.tensor([[1, 9], [0, 1]]), torch.tensor([[2, 1], [0, 1]]), torch.ones(2, 2))
    wrong_scores = dict.fromkeys(("start", "end"), (*TENSOR, SCORES[:, :2])) | {"allowed": (None, *BOOLEANS)}
    yield heads.span_loss, scores | {"span": torch.tensor([[1, 2], [0, 1]])}, wrong_scores | {"span": spans}
    yield heads.best_span, scores, wrong_scores | {"max_length": (*COUNT[1:], 0), "end": (SCORES * NAN,)}

    logits = {"logits": Q, "labels": torch.ones(2, 3, dtype=torch.long)}
    labels = (*TENSOR, torch.ones(2, 3), torch.full((2, 3), 4), torch.ones(2, 2, dtype=torch.long))
    for loss in (losses.surprisal, losses.cross_entropy):
        yield loss, logits, {"logits": FLOATS, "labels": labels, "ignore_index": (None, "x", 1.5)}
    wrong_p = (None, "x", [0.5, 0.6], [-0.5, 1.5], [NAN, 1.0], [], torch.tensor([1, 0]), [0.5, "x"])
    yield losses.entropy, {"p": [0.5, 0.5]}, {"p": wrong_p}
    for divergence in (losses.kl, losses.cross_entropy_of):
        yield divergence, {"p": [0.5, 0.5], "q": [0.5, 0.5]}, {"p": wrong_p, "q": wrong_p}
    yield losses.perplexity, {"loss": 1.0}, {"loss": (None, "x", NAN, -1.0, torch.tensor([1.0, -3.0]))}
    yield losses.to_bits, {"nats": 1.0}, {"nats": (None, "x", NAN)}
    yield losses.to_nats, {"bits": 1.0}, {"bits": (None, "x", torch.tensor(NAN))}
    pseudo = {"logits_fn": mlm.eval(), "ids": IDS, "mask_id": 4}
    wrong = {"logits_fn": (*OBJECT, lambda ids: None, lambda ids: ids.float())}
    wrong |= {"ids": (*TENSOR, IDS.float(), IDS[0]), "mask_id": COUNT, "batch_size": (*COUNT, 0)}
    yield losses.pseudo_log_likelihood, pseudo, wrong | {"scored": BOOLEANS}
    yield losses.pseudo_perplexity, pseudo, wrong | {"scored": (*BOOLEANS, ~REAL)}

    source = {"generator": torch.Generator()}
    wrong = {"rate": SHARE, "generator": SOURCE}
    wrong_ids = {"ids": INTEGERS, "vocabulary": OBJECT, "channel": (*OBJECT, (0.8, 0.1, 0.1))} | wrong
    words = {"word_ids": (*TENSOR, IDS.float(), IDS[:, :3])}
    corrupted = {"ids": IDS, "vocabulary": VOCABULARY} | source
    wrong_tokens = (None, 5, "abc", [1], [""], ["a", "a"], [], SPECIAL_TOKENS)
    yield Vocabulary, {"tokens": ["a"]}, {"tokens": wrong_tokens}
    yield Vocabulary.of_size, {"size": 20}, {"size": (*COUNT, 5)}
    channel = {"mask": 1.0, "random": 0.0, "keep": 0.0}
    yield corruption.Channel, channel, dict.fromkeys(("mask", "keep"), SHARE)
    yield corruption.mask_tokens, corrupted, wrong_ids | {"selection": OBJECT}
    maskable = {"maskable": (*TENSOR, IDS, REAL[0, 0])}
    yield corruption.select_tokens, {"maskable": REAL} | source, wrong | maskable
    yield corruption.select_words, {"maskable": REAL, "word_ids": IDS} | source, wrong | maskable | words
    of_spans = maskable | {"p": (*SHARE, 0), "word_ids": words["word_ids"][1:]}
    yield corruption.select_spans, {"maskable": REAL} | source, wrong | of_spans
    yield corruption.span_lengths, {}, {"p": (*SHARE, 0), "longest": (*COUNT, 0)}
    corrupt = corrupted | {"selected": IDS > 9}
    yield corruption.corrupt, corrupt, {"selected": TENSOR, "ids": INTEGERS, "ignore_index": (None, "x", 0.5)}
    epochs = {"seed": COUNT, "epoch": COUNT, "copies": (*COUNT[1:], 0)}
    yield corruption.epoch_generator, {"seed": 0, "epoch": 0}, epochs
    likelihood = {"observed": IDS, "original": IDS, "vocabulary": VOCABULARY}
    wrong = {"observed": TENSOR, "original": (*TENSOR, IDS * 0), "vocabulary": OBJECT, "rate": SHARE}
    yield corruption.BERT_CHANNEL.likelihood, likelihood, wrong
    documents = (None, 5, [1, 2], ["ab", "cd"], [[[], [5]], [[6]]], [[[5], [6]]])
    wrong = {"documents": documents, "generator": SOURCE, "next_rate": SHARE}
    yield pairs.next_sentence_pairs, {"documents": [[[5], [6]], [[7]]]} | source, wrong
    wrong = {"longest": COUNT, "generator": SOURCE[1:]}
    yield pairs.truncate_pair, {"a": [1], "b": [2], "longest": 1}, wrong
    wrong = {"vocabulary": OBJECT, "max_length": (*COUNT[1:], 4), "pairs": (None, 5, [])}
    yield pairs.pair_batch, {"pairs": PAIRS, "vocabulary": VOCABULARY}, wrong

    yield parameters.count, {"model": SMALL}, {"model": OBJECT, "mlm_head": (None, *FLAG)}
    yield parameters.count_llama, {"config": parameters.LLAMA_3["llama-3-8b"]}, {"config": (*OBJECT, SMALL)}
    wrong = {"model": (*OBJECT, mlm), "ids": (*INTEGERS, IDS[:, :0]), "new": COUNT}
    drawn = {"temperature": (None, "x", NAN, -1, math.inf, 1e-45), "generator": SOURCE}
    call = {"model": CAUSAL, "ids": IDS, "new": 1, "temperature": 1.0} | source
    yield generation.generate, call, wrong | drawn
    wrong = {"encoder": (*OBJECT, ENCODER), "batch": COUNT, "size": COUNT}
    yield generation.Cache, {"encoder": CAUSAL.encoder, "batch": 2, "size": 8}, wrong

    wrong = {"word": (None, 5, b"gato", ["a"]), "vocabulary": (None, 5, "abc"), "longest_word": (*COUNT, 0)}
    yield tokenizer.greedy_wordpiece, {"word": "gato", "vocabulary": {"gato"}}, wrong
    yield tokenizer.Tokenizer, {"vocabulary": ["a"]}, {"vocabulary": (None, 5, "abc", [], ["a", ""], [None])}
    wrong = {"texts": (None, 5, "abc", [], [""], [None]), "size": COUNT, "min_frequency": COUNT}
    yield tokenizer.Tokenizer.train, {"texts": ["o gato"], "size": 50}, wrong
    text = (None, 5, b"oi", [], "\ud800")
    yield WORDS.encode, {"text": "o gato"}, {"text": text, "pair": text[1:], "max_length": COUNT[1:]}
    yield WORDS.tokenize, {"text": "o gato"}, {"text": text}
    yield WORDS.encode_batch, {"texts": ["o"]}, {"texts": (None, 5, "o", [], [None]), "pairs": (5, "o", [])}
    yield WORDS.decode, {"ids": [1]}, {"ids": (None, 5, [99], [-1], ["a"], [True], torch.tensor([[1]]))}
    yield WORDS.vocabulary.id_of, {"token": "o"}, {"token": (None, 5)}
    for load in (weights.encoder_from, weights.masked_lm_from, weights.causal_lm_from):
        yield load, {"settings": {}, "tensors": {}}, {"settings": (None, 5, []), "tensors": (None, 5, [])}


def name_of(function) -> str:
    return getattr(function, "__name__", type(function).__name__)


CALLS = [
    pytest.param(function, right, argument, value, id=f"{name_of(function)}-{argument}-{i}")
    for function, right, wrong in cases()
    for argument, values in wrong.items()
    for i, value in enumerate(values)
]
# NaN in queries or keys is found in their products.
ALSO_CALLED = {"q": "scores", "k": "scores"}


@pytest.mark.parametrize(("function", "right", "argument", "value"), CALLS)
def test_the_error_is_ours_and_names_the_argument(function, right, argument, value):
    with pytest.raises((TypeError, ValueError)) as caught:
        function(**(right | {argument: value}))
    told, raised = str(caught.value), traceback.extract_tb(caught.value.__traceback__)[-1]
    assert Path(raised.filename).is_relative_to(LIB) and "raise" in raised.line, f"{told} (from {raised})"
    assert re.search(rf"\b({argument}|{ALSO_CALLED.get(argument, argument)})\b", told), told


def test_the_right_calls_are_right():
    """Otherwise the test above could pass for the wrong reason."""
    for function, right, _ in cases():
        if function not in (weights.encoder_from, weights.masked_lm_from, weights.causal_lm_from):
            function(**right)
