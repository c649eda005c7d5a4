"""The statements of chapter 2, each tested on inputs that hypothesis looks for."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lib.attention import attention, causal_mask
from lib.corruption import Channel
from lib.losses import cross_entropy, kl
from lib.vocabulary import Vocabulary
from tests.randomness import SEEDS, normal

SHARES = st.integers(0, 20)


@pytest.mark.statement("obs-remocao-mascara")
@pytest.mark.guards("02.s8", "03.s16", "03.s19", "03.s20")
@pytest.mark.statement("lem-tirar-mascara")
@given(SEEDS, st.integers(1, 12), st.integers(1, 6))
def test_the_causal_row_is_the_free_row_renormalised_over_the_past(seed, n, d):
    q, k, v = normal(seed, 3, n, d)
    _, free = attention(q, k, v)
    _, causal = attention(q, k, v, causal_mask(n))
    assert (free > 0).all()
    torch.testing.assert_close(free.sum(-1), torch.ones(n, dtype=torch.float64))
    past = free * causal_mask(n)
    torch.testing.assert_close(causal, past / past.sum(-1, keepdim=True))
    torch.testing.assert_close(free[-1], causal[-1])


@st.composite
def channels(draw):
    mask, random, keep = draw(st.tuples(SHARES, SHARES, SHARES).filter(lambda s: sum(s) > 0))
    total = mask + random + keep
    return Channel(mask / total, random / total, keep / total)


@pytest.mark.guards("02.s20", "02.s22")
@pytest.mark.statement("prop-canal")
@given(channels(), SEEDS, st.integers(2, 12))
def test_the_best_answer_under_the_channel_is_the_formula(channel, seed, w):
    vocabulary = Vocabulary(["[MASK]", *(f"w{i}" for i in range(w))])
    words = vocabulary.ordinary_ids
    c = normal(seed, w).softmax(-1)
    r, k = channel.random, channel.keep
    masked = c * channel.likelihood(torch.zeros(w, dtype=torch.long), words, vocabulary)
    torch.testing.assert_close(masked, c * channel.mask)
    for i, y in enumerate(words):
        likelihood = channel.likelihood(y.expand(w), words, vocabulary)  # P(y read | each original)
        torch.testing.assert_close(likelihood, torch.full((w,), r / w).double() + k * (words == y))
        joint = c * likelihood
        if channel.mask == 1:
            assert joint.sum() == 0, "a visible word was selected although all selected words become [MASK]"
            continue
        believed = joint[i] / joint.sum()
        torch.testing.assert_close(believed, c[i] * (k + r / w) / (c[i] * k + r / w))
        if r == 0:
            torch.testing.assert_close(believed, torch.ones_like(believed))
        elif k > 0 and not math.isclose(c[i], r / (k * w + 2 * r), rel_tol=1e-9):
            assert (believed > 0.5) == (c[i] > r / (k * w + 2 * r))


@pytest.mark.statement("obs-selecionadas")
@given(SEEDS, st.integers(2, 8), st.data())
def test_the_gradient_reaches_every_input_through_attention(seed, n, data):
    x = normal(seed, n, 5).requires_grad_()
    i = data.draw(st.integers(0, n - 1))
    h, _ = attention(x, x, x)
    cross_entropy(h[None, i], torch.tensor([0])).backward()
    assert (x.grad.norm(dim=-1) > 0).all()


def nsp_loss(together, apart, p):
    return -(together * p.log() + apart * (1 - p).log()).sum() / 2


@pytest.mark.guards("02.s42")
@pytest.mark.statement("teo-nsp")
@given(SEEDS, st.integers(2, 6), st.integers(2, 6))
def test_the_best_nsp_answer_is_the_pointwise_mutual_information(seed, a, b):
    together = normal(seed, a * b).softmax(-1).view(a, b)
    apart = together.sum(1, keepdim=True) * together.sum(0, keepdim=True)
    best = torch.sigmoid((together / apart).log())
    loss = nsp_loss(together, apart, best)
    middle = (together + apart).flatten() / 2
    js = (kl(together.flatten(), middle) + kl(apart.flatten(), middle)) / 2
    torch.testing.assert_close(loss, math.log(2) - js)
    other = torch.sigmoid(normal(seed + 1, a, b))
    assert nsp_loss(together, apart, other) >= loss


@pytest.mark.guards("02.s43")
@pytest.mark.statement("teo-nsp")
@given(SEEDS, st.integers(1, 4), st.integers(2, 6))
def test_where_only_the_topic_is_shared_the_best_answer_reads_topics_and_ignores_order(seed, topics, n):
    p_t = normal(seed, topics).softmax(-1)
    p_s = normal(seed + 1, topics, n).softmax(-1)  # P(sentence | topic)
    together = torch.einsum("t,ta,tb->ab", p_t, p_s, p_s)
    p = p_t @ p_s
    ratio = together / (p[:, None] * p[None, :])
    of_topic = p_t[:, None] * p_s / p  # P(topic | sentence)
    torch.testing.assert_close(ratio, torch.einsum("ta,tb,t->ab", of_topic, of_topic, 1 / p_t))
    torch.testing.assert_close(ratio, ratio.T)


@pytest.mark.guards("02.s53")
@pytest.mark.statement("cor-contextuais")
@given(st.lists(st.integers(1, 50), min_size=2, max_size=5), SEEDS)
def test_a_static_vector_cannot_beat_the_commonest_sense(counts, seed):
    """Any rule, here a random linear one, on the one row that the table has for the word."""
    senses = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts))
    table, rule = normal(seed, 1, 4), normal(seed + 1, 4, len(counts))
    read = table[torch.zeros(len(senses), dtype=torch.long)]  # every occurrence looks up the same row
    right = ((read @ rule).argmax(-1) == senses).double().mean()
    assert right <= max(counts) / sum(counts) + 1e-12


@pytest.mark.guards("02.s52")
@pytest.mark.statement("cor-contextuais")
@given(SEEDS, st.integers(2, 9), st.data(), st.sampled_from([-1.0, 1.0]))
def test_a_clue_anywhere_decides_the_sense_in_one_free_layer(seed, n, data, sense):
    word = data.draw(st.integers(0, n - 1))
    clue = data.draw(st.integers(0, n - 1).filter(lambda j: j != word))
    q, k = normal(seed, 2, n, 3)
    v = torch.zeros(n, 1, dtype=torch.float64)
    v[clue] = sense
    assert attention(q, k, v)[0][word, 0].sign() == sense
    assert (attention(q, k, v, causal_mask(n))[0][word, 0] == 0) == (clue > word)
