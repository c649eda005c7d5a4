"""What the fifth document gets wrong or leaves open, shown: each test guards an entry of the errata."""

from copy import deepcopy

import pytest
import torch
from torch import nn

from lib.attention import attention
from lib.corpus import PORTUGUESE, bidirectional_floor, causal_floor, tasks
from lib.corruption import (
    epoch_generator,
    mask_tokens,
    select_spans,
    select_tokens,
)
from lib.encoder import Block, Config, Encoder
from lib.experiments.wrong_masking import flattened_masking
from lib.geometry import anisotropy, standardize
from lib.heads import FineTuned, MaskedLM, SequenceHead
from lib.losses import IGNORE_INDEX
from lib.parameters import count
from lib.plots import architecture
from lib.presets import preset
from lib.training import MaskedPairs, fine_tune, labelled
from lib.vocabulary import Vocabulary

SMALL = Config(40, d=8, layers=2, heads=2, positions=12, dropout=0.0)
PAD, UNK, CLS, SEP, MASK = range(5)
VOCABULARY = Vocabulary.of_size(40)


def draw(seed=0):
    return torch.Generator().manual_seed(seed)


def sentences(rows=8, n=10, seed=0):
    ids = torch.randint(5, 40, (rows, n), generator=draw(seed))
    ids[:, 0], ids[:, -1] = CLS, SEP
    return ids


@pytest.fixture
def encoder():
    torch.manual_seed(0)
    return Encoder(SMALL).double().eval()


# Architecture


@pytest.mark.guards("05.s1")
def test_the_figures_of_the_encoder_and_of_a_block_are_drawn():
    drawn = architecture.encoder(["a", "b", "c"], SMALL).axes[0]
    arrows = [p for p in drawn.patches if hasattr(p, "get_arrowstyle")]
    assert len(arrows) == 3 + SMALL.layers * 9
    parts = [t.get_text() for t in architecture.block(pre_norm=False).axes[0].texts]
    assert parts[1:-1] == ["atenção", "+", "norma", "feed-forward", "+", "norma"]


@pytest.mark.guards("05.s3", "05.s4", "05.s13")
def test_without_the_padding_mask_the_neighbours_of_a_batch_change_a_vector(encoder):
    ids = sentences(1, 6)
    padded = nn.functional.pad(ids, (0, 4), value=PAD)
    alone = encoder(ids)
    torch.testing.assert_close(encoder(padded, padded != PAD)[:, :6], alone)
    assert not torch.allclose(encoder(padded)[:, :6], alone, atol=1e-6)


@pytest.mark.guards("05.s9")
def test_the_block_is_the_encoder_layer_of_2017():
    """With ReLU, our block and torch's layer of the original Transformer are one function."""
    torch.manual_seed(0)
    config = Config(10, d=8, layers=1, heads=2, d_ff=16, activation="relu", dropout=0.0, norm_eps=1e-5)
    ours, theirs = Block(config), nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    a = ours.attention
    with torch.no_grad():
        theirs.self_attn.in_proj_weight.copy_(torch.cat([a.W_Q.weight, a.W_K.weight, a.W_V.weight]))
        theirs.self_attn.in_proj_bias.copy_(torch.cat([a.W_Q.bias, a.W_K.bias, a.W_V.bias]))
    theirs.self_attn.out_proj.load_state_dict(a.W_O.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.W_1.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.W_2.state_dict())
    theirs.norm1.load_state_dict(ours.norm_1.state_dict())
    theirs.norm2.load_state_dict(ours.norm_2.state_dict())
    x = torch.randn(2, 5, 8, generator=draw())
    torch.testing.assert_close(ours(x), theirs(x))


@pytest.mark.guards("05.s10")
def test_without_segments_a_pair_is_one_sentence(encoder):
    ids = sentences(1)
    segments = (torch.arange(10) > 4).long()[None]
    assert not torch.allclose(encoder(ids, segments=segments), encoder(ids), atol=1e-6)


@pytest.mark.guards("05.s11")
def test_a_token_attends_to_itself_too():
    q, k, v = torch.randn(3, 4, 8, generator=draw()).double()
    assert (attention(q, k, v)[1].diagonal() > 0).all()


@pytest.mark.guards("05.s12")
def test_the_encoder_has_no_output_layer(encoder):
    parts = {name.partition(".")[0] for name, _ in encoder.named_parameters()}
    assert parts == {"embeddings", "blocks", "pooler"}


@pytest.mark.guards("05.s14")
def test_a_large_weight_on_an_empty_value_delivers_nothing():
    q, k = torch.tensor([[1.0, 0.0]]), torch.tensor([[9.0, 0.0], [0.0, 0.0]])
    output, weights = attention(q, k, torch.tensor([[0.0, 0.0], [1.0, 1.0]]))
    assert weights[0, 0] > 0.99 and output.abs().max() < 0.01


@pytest.mark.guards("05.s15")
def test_in_one_causal_block_the_last_token_already_reaches_the_first():
    torch.manual_seed(0)
    causal = Encoder(Config(40, d=8, layers=1, heads=2, positions=12, causal=True, dropout=0.0)).double()
    ids = sentences(1)
    other = ids.clone()
    other[0, 0] = 7
    assert not torch.allclose(causal(ids)[0, -1], causal(other)[0, -1])


@pytest.mark.guards("05.s46")
def test_appending_a_token_changes_every_vector(encoder):
    ids = sentences(1)
    longer = torch.cat([ids, torch.tensor([[9]])], 1)
    changed = (encoder(longer)[0, :10] - encoder(ids)[0]).abs().amax(-1)
    assert (changed > 1e-6).all()


@pytest.mark.guards("05.s47")
def test_the_output_is_as_long_as_the_input(encoder):
    for n in (3, 7):
        assert encoder(sentences(2, n)).shape[:2] == (2, n)


# Masked language modelling


@pytest.mark.guards("05.s17")
def test_of_all_words_an_eighth_at_most_becomes_mask():
    ids = torch.randint(5, 40, (2000, 20), generator=draw())
    noisy, labels = mask_tokens(ids, VOCABULARY, generator=draw(1))
    selected = labels != IGNORE_INDEX
    assert abs(selected.double().mean() - 0.15) < 0.01
    assert abs((noisy == MASK).double().mean() - 0.12) < 0.01


@pytest.mark.guards("05.s18", "05.s19")
def test_kept_and_replaced_words_are_predicted_too():
    ids = torch.randint(5, 40, (500, 20), generator=draw())
    noisy, labels = mask_tokens(ids, VOCABULARY, generator=draw(1))
    selected = labels != IGNORE_INDEX
    assert ((noisy == ids) & selected).any() and ((noisy != ids) & (noisy != MASK) & selected).any()
    assert torch.equal(labels[selected], ids[selected])


@pytest.mark.guards("05.s21")
def test_a_short_sentence_may_have_nothing_to_predict():
    selected = select_tokens(torch.ones(4000, 5, dtype=torch.bool), 0.15, generator=draw())
    none = (selected.sum(1) == 0).double().mean()
    assert abs(none - 0.85**5) < 0.03
    assert torch.empty(0).mean().isnan(), "the mean over nothing is not a number"


@pytest.mark.guards("05.s20")
def test_the_condition_of_a_prediction_is_the_whole_corrupted_sentence(encoder):
    """The vector at i changes with any other token: it stands for the sentence, not for a condition apart."""
    ids = sentences(1)
    other = ids.clone()
    other[0, 8] = 5 + (ids[0, 8] - 4) % 35
    assert not torch.allclose(encoder(ids)[0, 2], encoder(other)[0, 2])


@pytest.mark.guards("05.s5", "05.s6")
def test_a_causal_encoder_trains_with_masks_and_ignores_the_right():
    torch.manual_seed(0)
    model = MaskedLM(Config(40, d=8, layers=2, heads=2, positions=12, causal=True, dropout=0.0))
    ids = sentences()
    noisy, labels = mask_tokens(ids, VOCABULARY, rate=0.3, generator=draw())
    assert model.loss(noisy, labels).isfinite()
    other = noisy.clone()
    other[:, 6:] = 9
    torch.testing.assert_close(model(noisy)[:, :6], model(other)[:, :6])


@pytest.mark.guards("05.s7")
def test_both_sides_leave_less_doubt_than_the_left():
    left, both = causal_floor(PORTUGUESE, 64), bidirectional_floor(PORTUGUESE, 64)
    assert both.value + both.half_width < left.value


@pytest.mark.guards("05.s16")
def test_bert_learns_two_exercises():
    assert MaskedPairs.terms == ("mlm", "nsp")


@pytest.mark.guards("05.s34")
def test_masked_words_alone_teach_the_first_position_nothing():
    torch.manual_seed(0)
    model = MaskedLM(SMALL)
    noisy, labels = mask_tokens(sentences(), VOCABULARY, rate=0.3, generator=draw())
    hidden = model.encoder(noisy)
    hidden.retain_grad()
    nn.functional.cross_entropy(
        model.logits(hidden).flatten(0, 1), labels.flatten(), ignore_index=IGNORE_INDEX
    ).backward()
    assert hidden.grad[:, 0].abs().max() == 0 and hidden.grad.abs().max() > 0


# The code


def wrong(ids, seed=0, rate=0.15):
    return flattened_masking(ids, pad_id=PAD, mask_id=MASK, rate=rate, generator=draw(seed))


@pytest.mark.guards("05.s23")
def test_the_code_fails_where_sentences_are_longer_than_the_batch():
    failed = 0
    for seed in range(20):
        try:
            wrong(sentences(2, 12), seed)
        except IndexError:
            failed += 1
    assert failed > 15


@pytest.mark.guards("05.s24")
def test_the_code_erases_whole_sentences():
    noisy, _ = wrong(sentences(10, 10))
    erased = (noisy == MASK).sum(1)
    assert set(erased.tolist()) == {0, 10}


@pytest.mark.guards("05.s25")
def test_the_code_masks_special_tokens():
    noisy, _ = wrong(sentences(10, 10))
    assert (noisy[:, 0] == MASK).any() and (noisy[:, -1] == MASK).any()
    right, _ = mask_tokens(sentences(10, 10), VOCABULARY, rate=0.9, generator=draw())
    assert (right[:, 0] == CLS).all() and (right[:, -1] == SEP).all()


@pytest.mark.guards("05.s26")
def test_the_code_never_replaces_and_never_keeps():
    ids = sentences(10, 10)
    noisy, _ = wrong(ids)
    assert set(noisy[noisy != ids].tolist()) == {MASK}


@pytest.mark.guards("05.s28", "05.s29")
def test_the_code_counts_every_position_and_hands_the_input_back():
    ids = sentences(10, 10)
    _, labels = wrong(ids)
    assert labels is ids and (labels != PAD).all()
    _, right = mask_tokens(ids, VOCABULARY, generator=draw())
    assert (right == IGNORE_INDEX).double().mean() > 0.5


@pytest.mark.guards("05.s30")
def test_gradients_add_up_when_nobody_zeroes_them():
    w = torch.ones(1, requires_grad=True)
    for _ in range(3):
        (2 * w).backward()
    assert w.grad.item() == 6


@pytest.mark.guards("05.s31")
def test_the_loop_of_the_document_needs_a_tensor_and_a_mask():
    """A model that returns an object has no `view`; and nothing tells it where the padding is."""
    transformers = pytest.importorskip("transformers")
    tiny = transformers.BertConfig(
        vocab_size=40, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    torch.manual_seed(0)
    model = transformers.BertForMaskedLM(tiny).eval()
    ids = sentences(2, 6)
    told = model(ids)
    assert not hasattr(told, "view") and told.logits.shape == (2, 6, 40)
    padded = nn.functional.pad(ids, (0, 4), value=PAD)
    assert not torch.allclose(model(padded).logits[:, :6], told.logits, atol=1e-6)


# Fine-tuning and variants


@pytest.mark.guards("05.s32")
def test_fine_tuning_moves_every_part_of_the_encoder():
    torch.manual_seed(0)
    before = Encoder(SMALL)
    examples = labelled(sentences().tolist(), torch.arange(8) % 2)
    after = fine_tune(deepcopy(before), SequenceHead(SMALL, 2), examples, epochs=2).encoder
    for part in ("embeddings", "blocks.0", "blocks.1", "pooler"):
        a, b = before.get_submodule(part), after.get_submodule(part)
        assert any(not torch.equal(p, q) for p, q in zip(a.parameters(), b.parameters(), strict=True))


@pytest.mark.guards("05.s33")
def test_without_a_bias_a_zero_vector_cannot_prefer_a_class():
    W = torch.randn(3, 8, generator=draw())
    assert torch.allclose((W @ torch.zeros(8)).softmax(0), torch.full((3,), 1 / 3))
    head = SequenceHead(SMALL, 3)
    assert head.W.bias is not None and FineTuned(Encoder(SMALL), head).encoder.pooler is not None


@pytest.mark.guards("05.s35")
def test_entailment_has_a_direction():
    for first, second in tasks.RELATIONS[tasks.ENTAILMENT]:
        assert (second, first) in tasks.RELATIONS[tasks.NEUTRAL]


@pytest.mark.guards("05.s36")
def test_static_masks_repeat_and_dynamic_ones_do_not():
    row = torch.ones(1, 30, dtype=torch.bool)

    def masks(copies):
        drawn = (select_tokens(row, 0.15, generator=epoch_generator(0, e, copies)) for e in range(40))
        return len({tuple(mask.flatten().tolist()) for mask in drawn})

    assert masks(10) == 10 and masks(None) == 40


def test_roberta_is_the_architecture_of_bert():
    bert, roberta = preset("bert-base"), preset("roberta-base")
    a, b = count(bert), count(roberta)
    assert (a.attention, a.feed_forward) == (b.attention, b.feed_forward)


@pytest.mark.guards("05.s37")
def test_most_of_a_multilingual_model_is_its_table():
    xlmr, roberta = count(preset("xlm-r-base")), count(preset("roberta-base"))
    assert xlmr.token_embeddings / xlmr.total > 0.6 > roberta.token_embeddings / roberta.total
    assert xlmr.attention == roberta.attention


@pytest.mark.guards("05.s38")
def test_spans_change_where_the_gaps_are_and_not_how_many():
    text = torch.ones(200, 60, dtype=torch.bool)
    spans, tokens = (f(text, 0.15, generator=draw()) for f in (select_spans, select_tokens))
    assert abs(spans.double().mean() - tokens.double().mean()) < 0.02
    together = [(s[:, 1:] & s[:, :-1]).sum() / s[:, :-1].sum() for s in (spans, tokens)]
    assert together[0] > 3 * together[1]


# Geometry


@pytest.mark.guards("05.s40")
def test_one_shared_direction_is_enough_for_a_high_mean_cosine():
    """Vectors that differ in all but one big dimension: far from "pointing the same way" in the others."""
    x = torch.randn(300, 50, generator=draw()).double()
    x[:, 0] += 10
    assert anisotropy(x) > 0.6 and abs(anisotropy(x[:, 1:])) < 0.05


@pytest.mark.guards("05.s42")
def test_one_deviation_for_all_dimensions_leaves_the_loud_one_loud():
    x = torch.randn(300, 4, generator=draw()).double() * torch.tensor([100.0, 1, 1, 1])
    scalar = (x - x.mean()) / x.std()
    assert scalar.var(0)[0] / scalar.var(0).sum() > 0.99
    assert torch.allclose(standardize(x).var(0, correction=0), torch.ones(4).double())


def test_dividing_by_the_variance_lets_the_quiet_dimension_rule():
    x = torch.randn(300, 4, generator=draw()).double() * torch.tensor([1.0, 1, 1, 0.01])
    by_variance = (x - x.mean(0)) / x.var(0)
    assert by_variance.var(0)[3] / by_variance.var(0).sum() > 0.99


@pytest.mark.guards("05.s44")
def test_standardizing_does_not_make_vectors_isotropic():
    t = torch.randn(300, 1, generator=draw()).double()
    z = standardize(torch.cat([t, 2 * t + 1], 1))
    assert abs(anisotropy(z)) < 0.05
    assert torch.linalg.matrix_rank(z) == 1, "all of them still lie on one line"


@pytest.mark.guards("05.s45")
def test_standardizing_gives_a_linear_classifier_nothing_new():
    x, W, b = (
        torch.randn(50, 6, generator=draw()).double(),
        torch.ones(3, 6).double(),
        torch.zeros(3).double(),
    )
    W[:, 2] = torch.tensor([1.0, -2.0, 3.0])
    mu, sigma = x.mean(0), x.std(0, correction=0)
    torch.testing.assert_close(standardize(x) @ W.T + b, x @ (W / sigma).T + (b - W @ (mu / sigma)))
