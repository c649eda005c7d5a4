"""What we save opens in transformers with no line of ours, says the same there, and loads again here."""

from dataclasses import replace

import pytest
import torch
import transformers
from torch import nn

from lib import heads, models
from lib.corpus import PORTUGUESE
from lib.encoder import Config, Encoder
from lib.tokenizer import EncodedBatch, Tokenizer
from lib.use import fill_mask
from lib.weights import load, save
from tests.reference import randomise

TEXTS = ["O gato dorme na casa da avó.", "A gata viu o rato ontem.", "Avô e avó comem manga."] * 9
TOKENIZER = Tokenizer.train(TEXTS, 90)
CONFIG = Config(TOKENIZER.size, d=24, layers=2, heads=4, positions=24)
CONFIGS = {
    "bert": CONFIG,
    "bert, tanh": replace(CONFIG, activation="gelu_tanh", norm_eps=1e-5),
    "roberta": replace(CONFIG, count_real_positions=True),
    "pre-norm": replace(CONFIG, pre_norm=True),
    "pre-norm, counting": replace(CONFIG, pre_norm=True, count_real_positions=True),
}
NAMES = ("ruim", "média", "boa")
SEQUENCE, TOKEN, SPAN = (
    transformers.AutoModelForSequenceClassification,
    transformers.AutoModelForTokenClassification,
    transformers.AutoModelForQuestionAnswering,
)


def bare(config: Config) -> Encoder:
    return Encoder(replace(config, pooler=False))


KINDS = {
    "encoder": (transformers.AutoModel, Encoder),
    "encoder without pooler": (transformers.AutoModel, bare),
    "masked": (transformers.AutoModelForMaskedLM, lambda c: heads.MaskedLM(replace(c, pooler=False))),
    "pairs": (transformers.AutoModelForMaskedLM, heads.PairsLM),
    "sequence": (SEQUENCE, lambda c: heads.FineTuned(Encoder(c), heads.SequenceHead(c, 3), NAMES)),
    "pair": (SEQUENCE, lambda c: heads.FineTuned(Encoder(c), heads.PairHead(c))),
    "next": (SEQUENCE, lambda c: heads.FineTuned(Encoder(c), heads.NSPHead(c))),
    "token": (TOKEN, lambda c: heads.FineTuned(bare(c), heads.TokenHead(c, 3), NAMES)),
    "span": (SPAN, lambda c: heads.FineTuned(bare(c), heads.SpanHead(c))),
}


def made(build, config: Config) -> nn.Module:
    torch.manual_seed(0)
    return randomise(build(config), 1).eval()


def outputs(model: nn.Module, x: EncodedBatch) -> list[torch.Tensor]:
    with torch.no_grad():
        out = model(x.ids, x.attention_mask, x.segment_ids)
    return list(out) if isinstance(out, tuple) else [out]


def their_outputs(folder, auto: type, texts: list[str], pairs: list[str] | None) -> list[torch.Tensor]:
    x = transformers.AutoTokenizer.from_pretrained(folder)(texts, pairs, padding=True, return_tensors="pt")
    with torch.no_grad():
        out = auto.from_pretrained(folder).eval()(**x)
    if "start_logits" in out:
        return [out.start_logits, out.end_logits]
    return [out.logits if "logits" in out else out.last_hidden_state]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CONFIGS)
def test_transformers_says_the_same_and_so_does_what_we_load(tmp_path, name, kind):
    auto, build = KINDS[kind]
    model = made(build, CONFIGS[name])
    save(tmp_path, model, TOKENIZER)
    loaded, tokenizer = load(tmp_path)
    x = tokenizer.encode_batch(TEXTS[:3], TEXTS[1:4])
    assert not x.attention_mask.all(), "padding must be there to be hidden"
    told = outputs(model, x), outputs(loaded, x), their_outputs(tmp_path, auto, TEXTS[:3], TEXTS[1:4])
    for mine, here, there in zip(*told, strict=True):
        at = x.attention_mask if mine.shape[:2] == x.ids.shape else ...
        torch.testing.assert_close(here[at], mine[at], rtol=0, atol=0)
        torch.testing.assert_close(there[at], mine[at], rtol=0, atol=1e-5)
    labels = getattr(model, "labels", None)
    assert type(loaded) is type(model) and getattr(loaded, "labels", None) == labels
    if labels:
        assert transformers.AutoConfig.from_pretrained(tmp_path).id2label == dict(enumerate(NAMES))


@pytest.mark.parametrize("name", ["bert", "pre-norm"])
def test_a_causal_model_is_a_decoder_whose_head_is_the_token_table(tmp_path, name):
    model = made(heads.CausalLM, replace(CONFIGS[name], causal=True, pooler=False))
    save(tmp_path, model, TOKENIZER)
    loaded, x = load(tmp_path).model, TOKENIZER.encode_batch(TEXTS[:3])
    [hidden] = their_outputs(tmp_path, transformers.AutoModel, TEXTS[:3], None)
    with torch.no_grad():
        mine = model(x.ids, x.attention_mask)[x.attention_mask]
        assert torch.equal(loaded(x.ids, x.attention_mask)[x.attention_mask], mine)
        there = (hidden @ loaded.encoder.embeddings.token.weight.T)[x.attention_mask]
    torch.testing.assert_close(there, mine, rtol=0, atol=1e-5)


def test_both_heads_of_pretraining_open(tmp_path):
    model = made(heads.PairsLM, CONFIG)
    save(tmp_path, model, TOKENIZER)
    x = TOKENIZER.encode_batch(TEXTS[:3], TEXTS[1:4])
    theirs = transformers.AutoModelForPreTraining.from_pretrained(tmp_path).eval()
    with torch.no_grad():
        told = theirs(x.ids, attention_mask=x.attention_mask.long(), token_type_ids=x.segment_ids)
        mine = model.nsp(model.encoder.pooler(model.encoder(x.ids, x.attention_mask, x.segment_ids)))
    torch.testing.assert_close(told.seq_relationship_logits, mine, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", models.KINDS)
def test_the_models_of_the_course_fill_masks_in_transformers(name):
    folder, text = models.FOLDER / name, "a [MASK] madura caiu"
    model, tokenizer = load(folder)
    assert tokenizer.vocabulary == PORTUGUESE.vocabulary
    told = transformers.pipeline("fill-mask", str(folder), top_k=4)(text)
    [mine] = fill_mask(model, tokenizer, text, top=4)
    assert [guess.word for guess in mine] == [guess["token_str"] for guess in told]
    assert [g.probability for g in mine] == pytest.approx([g["score"] for g in told], abs=1e-6)


def test_half_precision_is_of_the_file_only(tmp_path):
    model = made(heads.MaskedLM, CONFIG)
    half, full = (
        save(tmp_path / "half", model, TOKENIZER, torch.float16),
        save(tmp_path / "full", model, None),
    )
    small, large = ((folder / "model.safetensors").stat().st_size for folder in (half, full))
    assert small < 0.6 * large
    both = transformers.AutoModelForMaskedLM.from_pretrained(half), load(half).model
    assert {p.dtype for model in both for p in model.parameters()} == {torch.float32}


def test_a_folder_is_written_again_without_what_was_there(tmp_path):
    save(tmp_path, made(heads.MaskedLM, CONFIG), TOKENIZER)
    save(tmp_path, made(Encoder, CONFIG), None)
    model, tokenizer = load(tmp_path)
    assert isinstance(model, Encoder) and tokenizer is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", "model.safetensors"]


class OtherHead(heads.TokenHead):
    """A head that transformers has no class for."""


def diverged(config: Config) -> heads.MaskedLM:
    model = heads.MaskedLM(config)
    model.head.bias.data[3] = torch.nan
    return model


def headed(config: Config) -> heads.FineTuned:
    return heads.FineTuned(Encoder(config), OtherHead(config, 2))


@pytest.mark.parametrize(
    ("build", "changes", "tokenizer", "message"),
    [
        (
            heads.MaskedLM,
            {"vocab_size": 40},
            TOKENIZER,
            "must be the one that the model was trained",
        ),
        (heads.MaskedLM, {}, TOKENIZER.vocabulary, "tokenizer must be of type Tokenizer"),
        (headed, {}, None, "OtherHead has no place in transformers"),
        (lambda c: nn.Linear(2, 2), {}, None, "model must be one of Encoder, .* got Linear"),
        (Encoder, {"segments": 0}, None, "segments >= 1 to be saved"),
        (Encoder, {"embedding_norm": False}, None, "embedding_norm=True"),
        (Encoder, {"pre_norm": True, "pad_id": None}, None, "pad_id must be set"),
        (heads.MaskedLM, {"pre_norm": True, "activation": "relu"}, None, "activation must be 'gelu'"),
        (diverged, {}, TOKENIZER, r"the numbers of head\.bias in torch\.float32 hold NaN"),
    ],
)
def test_what_cannot_leave_is_refused_and_nothing_is_written(tmp_path, build, changes, tokenizer, message):
    with pytest.raises((ValueError, TypeError), match=message):
        save(tmp_path / "new", build(replace(CONFIG, **changes)), tokenizer)
    assert not (tmp_path / "new").exists()
