"""What the fourth document gets wrong or leaves open, shown: each test guards an entry of the errata."""

import math
from copy import deepcopy

import pytest
import torch
from torch.nn.functional import one_hot

from lib.encoder import Config
from lib.heads import CausalLM
from lib.losses import cross_entropy, cross_entropy_of, kl
from lib.presets import preset
from lib.sources import AGREES, compare, example
from lib.tokenizer import Tokenizer

SUN = example("04.2").inputs
RIGHT = SUN["vocabulario"].index(SUN["alvo"])
GOOD, BAD = (torch.tensor(SUN[k], dtype=torch.float64) for k in ("previsao", "previsao_pior"))


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return CausalLM(Config(5, d=8, layers=2, heads=2, positions=8, causal=True, dropout=0.0)).double().eval()


@pytest.mark.guards("04.s1")
def test_the_printed_losses_are_natural_logarithms():
    assert compare("04.1", perda=-math.log(0.8)).verdict == AGREES
    assert abs(-math.log10(0.8) - 0.223) > 0.1 and abs(-math.log2(0.8) - 0.223) > 0.05


@pytest.mark.guards("04.s6")
def test_lowering_the_loss_of_one_position_may_raise_another(model):
    inputs, labels = torch.tensor([[0, 1]]), torch.tensor([[1, 2]])
    before = cross_entropy(model(inputs)[:, 1], labels[:, 1])
    twin = deepcopy(model)
    optimizer = torch.optim.SGD(twin.parameters(), lr=1.0)
    for _ in range(20):
        optimizer.zero_grad()
        cross_entropy(twin(inputs)[:, 0], labels[:, 0]).backward()
        optimizer.step()
    assert cross_entropy(twin(inputs)[:, 0], labels[:, 0]) < 0.1
    assert cross_entropy(twin(inputs)[:, 1], labels[:, 1]) > before


@pytest.mark.guards("04.s7")
def test_a_long_step_raises_the_loss():
    def loss(w):
        return -0.9 * torch.sigmoid(w).log() - 0.1 * torch.sigmoid(-w).log()

    w = torch.tensor(3.0, dtype=torch.float64)
    assert loss(w - 40 * (torch.sigmoid(w) - 0.9)) > loss(w)


@pytest.mark.guards("04.s4")
def test_backpropagation_computes_a_gradient_and_changes_no_weight(model):
    before = [p.clone() for p in model.parameters()]
    cross_entropy(model(torch.tensor([[0, 1]])), torch.tensor([[1, 2]])).backward()
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
    assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())
    model.zero_grad()


@pytest.mark.guards("04.s2")
def test_the_loss_is_not_a_distance():
    p, q = torch.tensor([0.7, 0.3]), torch.tensor([0.2, 0.8])
    assert cross_entropy_of(p, p) > 0, "the distance of a thing to itself would be zero"
    assert not torch.isclose(kl(p, q), kl(q, p))


@pytest.mark.guards("04.s12")
def test_a_right_guess_can_cost_more_than_a_wrong_one():
    assert GOOD.argmax() == RIGHT, "the document's first prediction is right, at a loss of 1.204"
    wrong = torch.tensor([0.0, 0.0, 0.4, 0.6, 0.0])
    assert wrong.argmax() != RIGHT and -wrong[RIGHT].log() < -GOOD[RIGHT].log()


@pytest.mark.guards("04.s13")
def test_a_step_may_raise_the_probability_of_a_wrong_word():
    """With the document's own numbers: "forte" gives up so much that "o" gains some of it."""
    u = BAD.log()
    after = (u - 0.1 * (BAD - one_hot(torch.tensor(RIGHT), 5))).softmax(-1)
    o = SUN["vocabulario"].index("o")
    assert o != RIGHT and after[o] > BAD[o] and after[RIGHT] > BAD[RIGHT]


@pytest.mark.guards("04.s17")
def test_the_logarithm_of_a_looked_up_probability_underflows():
    logits = torch.tensor([[0.0, 200.0]])
    assert -logits.softmax(-1)[0, 0].log() == math.inf
    assert math.isclose(cross_entropy(logits, torch.tensor([0])), 200.0)


@pytest.mark.guards("04.s8")
@pytest.mark.parametrize("id", ["04.1", "04.2"])
def test_the_capital_letter_is_not_in_the_vocabulary(id):
    vocabulary = example(id).inputs["vocabulario"]
    assert "O" not in vocabulary and "o" in vocabulary


@pytest.mark.guards("04.s24")
def test_a_vocabulary_holds_tokens_and_may_hold_more_than_tens_of_thousands():
    assert preset("xlm-r-base").vocab_size == 250_002
    pieces = Tokenizer.minilm().vocabulary
    assert sum(pieces[i].startswith("##") for i in range(len(pieces))) > 1_000
