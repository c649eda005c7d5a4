"""The losses against torch's own, against the definitions, and at the edges where they usually break."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from lib import losses
from lib.losses import IGNORE_INDEX, cross_entropy, cross_entropy_of, entropy, kl, perplexity, surprisal
from tests.randomness import SEEDS, normal, seeded
from tests.refusals import refuses


def batch(seed, shape, v, scale=3.0, dtype=torch.float64, ignored=0.4):
    """Logits and labels with some labels ignored, but never all of them."""
    g = seeded(seed)
    logits = (scale * torch.randn(*shape, v, generator=g, dtype=torch.float64)).to(dtype)
    labels = torch.randint(v, shape, generator=g)
    labels[torch.rand(shape, generator=g) < ignored] = IGNORE_INDEX
    if labels.numel() and (labels == IGNORE_INDEX).all():
        labels.view(-1)[0] = 0
    return logits, labels


def distributions(seed, *shape, zeros=0.0):
    g = seeded(seed)
    p = torch.rand(*shape, generator=g, dtype=torch.float64)
    p[torch.rand(*shape, generator=g) < zeros] = 0
    p[..., 0] += 1e-3
    return p / p.sum(-1, keepdim=True)


# From logits and labels


@pytest.mark.catches("softmax em dobro")
@given(
    seed=SEEDS,
    shape=st.lists(st.integers(1, 5), min_size=0, max_size=3).map(tuple),
    v=st.integers(1, 40),
    scale=st.sampled_from([0.0, 1.0, 30.0, 1e4]),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    label_dtype=st.sampled_from([torch.int32, torch.int64]),
)
def test_value_and_gradient_equal_torch(seed, shape, v, scale, dtype, label_dtype):
    logits, labels = batch(seed, shape, v, scale, dtype)
    ours, theirs = logits.clone().requires_grad_(), logits.clone().requires_grad_()
    loss = cross_entropy(ours, labels.to(label_dtype))
    reference = F.cross_entropy(theirs.reshape(-1, v), labels.reshape(-1))
    torch.testing.assert_close(loss, reference, rtol=1e-5, atol=1e-6)
    loss.backward()
    reference.backward()
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_float32(dtype):
    logits, labels = batch(0, (4, 6), 300, dtype=dtype)
    loss = cross_entropy(logits, labels)
    assert loss.dtype == torch.float32
    exact = F.cross_entropy(logits.double().flatten(0, 1), labels.flatten())
    assert loss.item() == pytest.approx(exact.item(), rel=1e-6)


@pytest.mark.guards("02.s15", "02.s18", "04.s15", "04.s16", "05.s34")
@pytest.mark.statement("obs-selecionadas")
@pytest.mark.statement("lem-gradiente")
@given(seed=SEEDS)
def test_gradient_is_softmax_minus_one_hot_over_the_selected_and_zero_elsewhere(seed):
    logits, labels = batch(seed, (3, 5), 6)
    logits.requires_grad_()
    cross_entropy(logits, labels).backward()
    selected = labels != IGNORE_INDEX
    p = logits.detach().softmax(-1)
    expected = (p - F.one_hot(labels.clamp(min=0), 6)) * selected[..., None] / selected.sum()
    torch.testing.assert_close(logits.grad, expected)
    assert (logits.grad[~selected] == 0).all()
    row, label = p[selected][0].requires_grad_(), labels[selected][0]
    (-row[label].log()).backward()
    torch.testing.assert_close(row.grad, -F.one_hot(label, 6) / row.detach()[label])


def test_logits_of_ignored_positions_do_not_matter_not_even_nan():
    logits, labels = batch(2, (2, 6), 5)
    poisoned = logits.clone()
    poisoned[labels == IGNORE_INDEX] = math.nan
    poisoned.requires_grad_()
    loss = cross_entropy(poisoned, labels)
    assert loss == cross_entropy(logits, labels)
    loss.backward()
    assert poisoned.grad.isfinite().all()


@pytest.mark.parametrize("offset", [0.0, 1e4, -1e4, 1e30, -1e30])
def test_huge_logits_neither_overflow_nor_vanish(offset):
    logits = torch.tensor([[offset, offset, offset]], requires_grad=True)
    loss = cross_entropy(logits, torch.tensor([1]))
    assert loss.item() == pytest.approx(math.log(3))
    loss.backward()
    torch.testing.assert_close(logits.grad, torch.tensor([[1 / 3, -2 / 3, 1 / 3]]))


def test_minus_infinity_is_probability_zero():
    logits = torch.tensor([[0.0, -math.inf, 0.0]], requires_grad=True)
    loss = cross_entropy(logits, torch.tensor([0]))
    assert loss.item() == pytest.approx(math.log(2))
    loss.backward()
    torch.testing.assert_close(logits.grad, torch.tensor([[-0.5, 0.0, 0.5]]))
    assert cross_entropy(logits, torch.tensor([1])).item() == math.inf


def test_surprisal_is_one_number_per_selected_position_in_reading_order():
    logits, labels = batch(3, (3, 4), 6)
    s = surprisal(logits.mT.contiguous().mT, labels)
    expected = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
    torch.testing.assert_close(s, expected[labels.flatten() != IGNORE_INDEX])
    assert cross_entropy(logits, labels) == s.mean()


def test_ignore_index_may_be_a_class():
    logits, labels = batch(4, (8,), 5, ignored=0)
    theirs = F.cross_entropy(logits, labels, ignore_index=int(labels[0]))
    torch.testing.assert_close(cross_entropy(logits, labels, ignore_index=int(labels[0])), theirs)


TWO_ROWS, TWO_LABELS, NO_LABEL = torch.zeros(2, 3), torch.tensor([0, 1]), torch.zeros(0, dtype=torch.long)
test_bad_logits_and_labels_are_named = refuses(
    (lambda: cross_entropy(TWO_ROWS, TWO_LABELS * 0 - 100), "select no position: all 2"),
    (lambda: cross_entropy(TWO_ROWS[:0], NO_LABEL), "select no position: all 0"),
    (lambda: cross_entropy(TWO_ROWS, -TWO_LABELS), r"labels must lie in 0\.\.2.*got -1"),
    (lambda: cross_entropy(TWO_ROWS[:, :0], TWO_LABELS), "V >= 1"),
    (lambda: cross_entropy(torch.tensor(1.0), torch.tensor(0)), "logits must be"),
    (lambda: cross_entropy(torch.tensor([[0.0, math.inf]]), TWO_LABELS[:1]), r"no \+inf"),
    (lambda: cross_entropy(torch.full((1, 2), -math.inf), TWO_LABELS[:1]), "at least one finite"),
)
test_labels_of_another_type_are_named = refuses(
    (lambda: cross_entropy(TWO_ROWS, TWO_LABELS > 0), "labels must be integers"), error=TypeError
)


# Between distributions


@pytest.mark.guards("04.s3", "04.s9", "04.s14")
@pytest.mark.statement("prop-piso")
@given(seed=SEEDS, n=st.integers(1, 30), zeros=st.sampled_from([0.0, 0.5]))
def test_cross_entropy_is_entropy_plus_kl_and_a_uniform_guess_costs_ln_v(seed, n, zeros):
    p, q = distributions(seed, 4, n, zeros=zeros), distributions(seed + 1, 4, n)
    torch.testing.assert_close(cross_entropy_of(p, q), entropy(p) + kl(p, q))
    assert (kl(p, q) > 0).all() or n == 1, "what is not the truth costs more"
    torch.testing.assert_close(kl(p, p), torch.zeros(4, dtype=torch.float64))
    uniform = torch.full((n,), 1 / n, dtype=torch.float64)
    torch.testing.assert_close(cross_entropy_of(p, uniform), torch.full((4,), math.log(n)).double())
    torch.testing.assert_close(entropy(p), torch.distributions.Categorical(p).entropy())
    torch.testing.assert_close(cross_entropy_of(p, q), F.cross_entropy(q.log(), p, reduction="none"))
    torch.testing.assert_close(kl(p, q), F.kl_div(q.log(), p, reduction="none").sum(-1))


@pytest.mark.guards("02.s28", "04.s23")
@pytest.mark.statement("obs-one-hot")
@given(seed=SEEDS, n=st.integers(1, 20))
def test_the_product_with_a_one_hot_target_is_a_look_up_of_minus_its_logarithm(seed, n):
    logits, labels = batch(seed, (4,), n, ignored=0)
    one_hot, looked_up = F.one_hot(labels, n).double(), -logits.log_softmax(-1)[torch.arange(4), labels]
    assert (one_hot.count_nonzero(-1) == 1).all()
    torch.testing.assert_close(cross_entropy_of(one_hot, logits.softmax(-1)), looked_up)
    torch.testing.assert_close(surprisal(logits, labels), looked_up)


def test_zeros_in_p_and_q():
    p, q = [0.5, 0.5, 0.0], [0.5, 0.5, 0.0]
    assert entropy(p).item() == pytest.approx(math.log(2))
    assert kl(p, q).item() == 0
    assert str(entropy([1.0, 0.0]).item()) == "0.0"  # not "-0.0", which a chapter would print
    assert kl(p, [1.0, 0.0, 0.0]).item() == math.inf
    assert cross_entropy_of(p, [1.0, 0.0, 0.0]).item() == math.inf


def test_gradients_at_zero_are_not_nan():
    p = torch.tensor([0.5, 0.5, 0.0, 0.0], requires_grad=True)
    q = torch.tensor([0.25, 0.5, 0.25, 0.0], requires_grad=True)
    cross_entropy_of(p, q).backward()
    torch.testing.assert_close(q.grad, torch.tensor([-2.0, -1.0, 0.0, 0.0]))
    torch.testing.assert_close(p.grad[:3], -torch.tensor([0.25, 0.5, 0.25]).log())
    assert p.grad.isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_softmax_of_any_precision_counts_as_a_distribution(dtype):
    p = torch.randn(3, 5000, generator=seeded(0)).to(dtype).softmax(-1)
    assert entropy(p).isfinite().all()


test_bad_distributions_are_named = refuses(
    (lambda: entropy([math.inf, 0.0]), "p must sum to 1"),
    (lambda: entropy(torch.tensor(1.0)), "p must be a floating-point"),
    (lambda: kl([0.5, 0.5], [math.inf, 0.0]), "q must sum to 1"),
    (lambda: kl([0.5, 0.5], torch.tensor(1.0)), "q must be a floating-point"),
    (lambda: kl([0.5, 0.5], [0.2, 0.3, 0.5]), "same outcomes, got 2 and 3"),
    (lambda: kl(torch.full((2, 2), 0.5), torch.full((3, 2), 0.5)), "must broadcast"),
)


def test_bits_and_nats():
    assert losses.to_bits(math.log(8)) == pytest.approx(3)
    assert losses.to_nats(torch.tensor(3.0)).item() == pytest.approx(math.log(8))


def test_perplexity_is_the_exponential_from_one_to_infinity():
    assert (perplexity(0.0), perplexity(1e4), perplexity(math.inf)) == (1, math.inf, math.inf)
    assert perplexity(3) == pytest.approx(math.exp(3)) == perplexity(torch.tensor(3.0)).item()


# Pseudo-perplexity: a model whose answer at each position depends on every token that it sees there

V, MASK = 11, 0


def peeking_model(ids):
    """Scores each token by all tokens in sight; without a mask at i it would see the answer at i."""
    context = normal(7, V, V)[ids].sum(-2, keepdim=True)  # (b, 1, V)
    return context + 20 * F.one_hot(ids, V)  # (b, N, V)


def slow_pseudo_log_likelihood(sentence):
    total = 0.0
    for i, token in enumerate(sentence):
        holed = [MASK if j == i else t for j, t in enumerate(sentence)]
        total += peeking_model(torch.tensor([holed]))[0, i].log_softmax(-1)[token].item()
    return total


@given(
    sentences=st.integers(1, 6).flatmap(
        lambda n: st.lists(st.lists(st.integers(1, V - 1), min_size=n, max_size=n), min_size=1, max_size=4)
    ),
    batch_size=st.integers(1, 9),
)
def test_pseudo_perplexity_masks_one_position_at_a_time(sentences, batch_size):
    ids = torch.tensor(sentences)
    untouched = ids.clone()
    expected = [slow_pseudo_log_likelihood(s) for s in sentences]
    got = losses.pseudo_log_likelihood(peeking_model, ids, MASK, batch_size=batch_size)
    torch.testing.assert_close(got, torch.tensor(expected, dtype=torch.float64))
    value = losses.pseudo_perplexity(peeking_model, ids, MASK, batch_size=batch_size)
    assert value == pytest.approx(math.exp(-sum(expected) / ids.numel()))
    assert torch.equal(ids, untouched)


@pytest.mark.catches("prova com consulta")
def test_pseudo_perplexity_without_masking_would_be_nearly_one():
    ids = torch.tensor([[3, 5, 7, 2]])
    cheating = perplexity(cross_entropy(peeking_model(ids), ids)).item()
    assert cheating < 1.01 < 2 < losses.pseudo_perplexity(peeking_model, ids, MASK)


def test_only_scored_positions_count():
    ids = torch.tensor([[1, 4, 5, 2], [1, 6, 2, 3]])
    scored = torch.tensor([[False, True, True, False], [False, True, False, False]])
    rows = losses.pseudo_log_likelihood(peeking_model, ids, MASK, scored)
    alone = [losses.pseudo_log_likelihood(peeking_model, ids[[r]], MASK, scored[[r]]).item() for r in (0, 1)]
    assert rows.tolist() == pytest.approx(alone)
    value = losses.pseudo_perplexity(peeking_model, ids, MASK, scored)
    assert value == pytest.approx(math.exp(-sum(alone) / 3))


def uniform_model(ids):
    assert not torch.is_grad_enabled(), "pseudo-perplexity keeps no graph"
    return torch.zeros(*ids.shape, V)


def test_pseudo_perplexity_of_a_uniform_guess_is_the_size_of_the_vocabulary():
    assert losses.pseudo_perplexity(uniform_model, torch.tensor([[1, 2]]), MASK) == pytest.approx(V)


NONE, TWO, BELOW = torch.zeros(0, 4, dtype=torch.long), torch.tensor([[1, 2]]), torch.tensor([[1, -100]])
test_bad_pseudo_perplexity_inputs_are_named = refuses(
    (lambda: losses.pseudo_perplexity(peeking_model, NONE, MASK), "scored selects no token"),
    (lambda: losses.pseudo_perplexity(peeking_model, TWO, 2), "ids hold mask_id=2 at a scored position"),
    (lambda: losses.pseudo_perplexity(uniform_model, BELOW, MASK), r"labels must lie in 0\.\.10.*got -100"),
)


# An entropy that can be worked out on paper


def test_a_conditional_entropy_weighs_each_context_by_its_probability():
    sentences = {("a", "x"): 0.25, ("a", "y"): 0.25, ("b", "z"): 0.5}
    assert losses.conditional_entropy(sentences, 1, []) == pytest.approx(1.5 * math.log(2))
    assert losses.conditional_entropy(sentences, 1, [0]) == pytest.approx(0.5 * math.log(2))
    assert losses.conditional_entropy(sentences, 0, [1]) == 0


NOT_DISTRIBUTIONS = ({}, {("a",): 0.5}, {("a",): 1.5, ("b",): -0.5})
test_what_is_not_a_distribution_is_refused = refuses(
    *((lambda bad=bad: losses.conditional_entropy(bad, 0, []), "sentences") for bad in NOT_DISTRIBUTIONS)
)
