"""What the second document gets wrong or leaves open, shown: each test guards an entry of the errata."""

import math

import pytest
import torch

from lib.attention import attention, softmax
from lib.corpus import PORTUGUESE, next_sentence_posterior, paragraphs
from lib.corruption import select_tokens
from lib.encoder import Config, Encoder
from lib.experiments.word_senses import cosines, separation
from lib.heads import MLMHead
from lib.losses import conditional_entropy, cross_entropy
from lib.pairs import IS_NEXT, NOT_NEXT, next_sentence_pairs
from lib.presets import preset
from lib.sources import AGREES, CORRECTED, compare, example
from lib.tokenizer import Tokenizer
from lib.use import word_vector
from lib.weights import minilm
from tests.randomness import seeded
from tools.console import ROOT

CAT = example("02.1").inputs
DOG = example("02.2").inputs
PAIRS = example("02.3").inputs
X = torch.tensor(CAT["embeddings"], dtype=torch.float64)
H, E = (torch.tensor(DOG[k], dtype=torch.float64) for k in ("h", "E"))
BANCO = [
    "Eu fui ao banco para sacar dinheiro.",
    "O banco cobrou juros do empréstimo.",
    "Ela abriu uma conta no banco ontem.",
    "O gerente do banco aprovou o crédito.",
    "Sentei no banco do jardim para relaxar.",
    "O banco da praça é de madeira.",
    "O velho dormia no banco do parque.",
    "Pintaram o banco de verde.",
]
BANK = [
    "I went to the bank to withdraw money.",
    "The bank charged interest on the loan.",
    "She opened an account at the bank yesterday.",
    "The manager of the bank approved the credit.",
    "We sat on the bank of the river to relax.",
    "The bank of the stream was covered with grass.",
    "The old man fished from the muddy bank.",
    "The boat drifted toward the far bank of the lake.",
]
SENSES = torch.tensor([0] * 4 + [1] * 4)


def printed(id, name):
    return torch.tensor([float(x) for x in example(id).figures[name].content], dtype=torch.float64)


@pytest.fixture(scope="module")
def real():
    return minilm(), Tokenizer.minilm()


# Architecture


@pytest.mark.guards("02.s1")
def test_the_right_side_lowers_the_floor_only_if_it_says_something():
    telling = {("a", "b", "b"): 0.5, ("a", "c", "c"): 0.5}
    silent = {("a", w, right): 0.25 for w in "bc" for right in "de"}
    for sentences, gain in ((telling, math.log(2)), (silent, 0.0)):
        left = conditional_entropy(sentences, 1, [0])
        both = conditional_entropy(sentences, 1, [0, 2])
        assert math.isclose(left - both, gain, abs_tol=1e-12)


@pytest.mark.guards("02.s2")
def test_conditionals_of_each_word_given_the_others_can_generate():
    """Gibbs sampling with the exact conditionals of a masked model ends in the joint distribution."""
    joint = torch.rand(3, 3, generator=seeded(), dtype=torch.float64).flatten().softmax(-1).view(3, 3)
    by_row = joint / joint.sum(1, keepdim=True)  # P(second | first)
    by_column = joint / joint.sum(0, keepdim=True)  # P(first | second)
    p = torch.full((3, 3), 1 / 9, dtype=torch.float64)
    for _ in range(60):
        p = by_row * p.sum(1, keepdim=True)
        p = by_column * p.sum(0, keepdim=True)
    torch.testing.assert_close(p, joint)


@pytest.mark.guards("02.s10")
def test_bert_and_gpt_differ_in_more_than_the_mask():
    bert, gpt = preset("bert-base"), preset("gpt-1")
    differ = {name for name in vars(bert) if getattr(bert, name) != getattr(gpt, name)}
    assert {"causal", "segments", "embedding_norm", "pooler"} <= differ


@pytest.mark.guards("02.s11", "02.s12")
def test_the_cat_computed_to_the_end():
    h, a = attention(X, X, X)
    expected = torch.tensor([0.234, 0.244, 0.255, 0.266], dtype=torch.float64)
    torch.testing.assert_close(a[0], expected, atol=5e-4, rtol=0)
    torch.testing.assert_close(h[0], torch.tensor([0.411, 0.511]).double(), atol=5e-4, rtol=0)
    assert (a.argmax(-1) == 3).all(), "every word looks at the longest vector"
    shuffled = X[[3, 1, 2, 0]]
    assert (attention(shuffled, shuffled, shuffled)[1].argmax(-1) == 0).all(), "wherever it stands"
    apart = torch.tensor([[1.0, 0], [0, 2]])
    assert attention(apart, apart, apart)[1].argmax(-1).tolist() == [0, 1], "not so in other directions"


# Corruption


@pytest.mark.guards("02.s23", "02.s27", "02.s33")
def test_the_example_does_not_keep_to_its_own_numbers():
    assert len(DOG["selecionados"]) / len(DOG["tokens"]) > 2 * 0.15, "more than twice the rate"
    chosen = select_tokens(torch.ones(6, dtype=torch.bool), generator=seeded(), selection="exact")
    assert chosen.sum() == 1
    assert example("02.2").figures["corrompida"].content.count("[MASK]") == 1
    assert len({*DOG["tokens"], *DOG["trocados"]}) > DOG["vocabulario"]


# From the vector to the word


@pytest.mark.guards("02.s29", "02.s30")
def test_the_printed_product_does_not_exist_and_its_logits_come_from_no_other():
    with pytest.raises(RuntimeError):
        H @ E
    u, wrong = H @ E.T, printed("02.2", "logits")
    assert len(u) == 5 and len(wrong) == 4
    near = [(u - x).abs().min() < 0.005 for x in wrong]
    assert near == [True, False, False, False] and (u - wrong[0]).abs().argmin() == 4
    assert compare("02.2", logits=u).verdict == CORRECTED


@pytest.mark.guards("02.s31")
def test_the_printed_probabilities_are_not_the_softmax_of_the_printed_logits():
    u, y = printed("02.2", "logits"), printed("02.2", "probabilidades")
    assert (softmax(u) - y).abs().max() > 0.02
    assert round(math.exp(u.max() - u.min()), 2) == 1.13 and round((y.max() / y.min()).item(), 2) == 1.26


@pytest.mark.guards("02.s32")
def test_the_likeliest_word_is_the_second_and_barely():
    y = softmax(H @ E.T)
    assert y.argmax() + 1 == 2 and 0.2 < y.max() < 0.25
    assert compare("02.2", mais_provavel=2, confianca=y.max()).verdict == CORRECTED


@pytest.mark.guards("02.s34")
def test_the_loss_knows_no_nearness_between_words():
    u, label = H @ E.T, torch.tensor([3])
    shuffled = u[[2, 4, 1, 3, 0]]  # the fourth stays
    torch.testing.assert_close(cross_entropy(u[None], label), cross_entropy(shuffled[None], label))


@pytest.mark.guards("02.s35", "02.s63")
def test_the_head_of_bert_is_more_than_a_product():
    torch.manual_seed(0)
    head, table = MLMHead(Config(5, d=4, heads=1)).double(), E
    assert not torch.allclose(head(H, table), H @ table.T)
    assert {name.split(".")[0] for name, _ in head.named_parameters()} == {"W", "norm", "bias"}


@pytest.mark.guards("02.s36", "02.s48")
def test_the_notation_page_settles_the_clashes():
    notation = (ROOT / "book" / "notation.md").read_text(encoding="utf-8")
    assert r"**$y$ é o alvo e $\hat{y}$, a previsão**" in notation
    assert "que se encontra também como $z_i$, aqui é sempre $h_i$" in notation


# Next sentence prediction


@pytest.mark.guards("02.s44")
def test_related_is_not_adjacent():
    """Two documents on one topic: the pair across them is as likely by topic, and its label says no."""
    ids = paragraphs(PORTUGUESE, 1, 3, seed=4).ids
    documents = [[ids[0].tolist(), ids[1].tolist()], [ids[2].tolist()]]
    (pair,) = next_sentence_pairs(documents, generator=seeded(), next_rate=0.0)
    assert pair.label == NOT_NEXT and pair.b == ids[2].tolist()
    assert next_sentence_posterior(PORTUGUESE, ids[[0]], ids[[2]]) > 0.5


@pytest.mark.guards("02.s47")
def test_the_losses_of_the_two_pairs():
    p, q = PAIRS["probabilidades"]
    logits = torch.tensor([[p, 1 - p], [q, 1 - q]], dtype=torch.float64).log()
    loss = cross_entropy(logits, torch.tensor([IS_NEXT, NOT_NEXT]))
    assert math.isclose(loss, (-math.log(0.8) - math.log(0.9)) / 2) and round(loss.item(), 3) == 0.164


# Contextual vectors


@pytest.mark.guards("02.s49")
def test_a_word_may_be_several_vectors(real):
    (word,) = [w for w in real[1].encode(BANCO[0]).words if w.text == "dinheiro"]
    assert word.stop - word.start > 1


@pytest.mark.guards("02.s51")
def test_different_vectors_need_not_be_different_senses(real):
    vectors = torch.stack([word_vector(*real, text, "banco") for text in BANCO])
    c = cosines(vectors)
    found = separation(c, SENSES)
    assert c.fill_diagonal_(0).max() < 0.99, "eight different vectors"
    assert abs(found.same - found.across) < 0.01 and found.neighbours <= 4, "and no senses in them"


@pytest.mark.guards("02.s57")
def test_a_high_cosine_may_separate_senses(real):
    found = separation(cosines(torch.stack([word_vector(*real, text, "bank") for text in BANK])), SENSES)
    assert found.across > 0.7 > 0.483 and found.neighbours == 8 and found.same > found.across + 0.1


@pytest.mark.guards("02.s54", "02.s55", "02.s56")
def test_the_cosine_of_banco_step_by_step():
    a, b = (torch.tensor(example("02.4").inputs[k], dtype=torch.float64) for k in ("z1", "z2"))
    assert compare("02.4", produto=a @ b, norma2_z2=b @ b, norma_z2=b.norm()).verdict == CORRECTED
    assert compare("02.4", norma2_z1=a @ a, norma_z1=a.norm()).verdict == AGREES
    cosine = torch.cosine_similarity(a, b, dim=0)
    assert math.isclose(a @ b, 0.54) and math.isclose(b @ b, 1.58) and round(cosine.item(), 3) == 0.483
    assert compare("02.4", cosseno=cosine).verdict == CORRECTED


@pytest.mark.guards("02.s58")
def test_made_up_vectors_have_cosines_too():
    a, b = torch.rand(2, 5_000, 4, generator=seeded(), dtype=torch.float64)
    below = (torch.cosine_similarity(a, b, dim=-1) < 0.483).double().mean()
    assert 0 < below < 0.5, "some of them lower than the document's, with no word behind them"


@pytest.mark.guards("02.s61")
def test_nothing_makes_cls_a_summary_by_construction():
    """With attention that hands nothing on, [CLS] is the same vector whatever the two sentences say."""
    torch.manual_seed(0)
    encoder = Encoder(Config(20, d=16, layers=2, heads=2, positions=16, dropout=0.0)).double().eval()
    pairs = torch.tensor([[2, 7, 3, 8, 3], [2, 9, 3, 10, 3]])
    assert not torch.equal(*encoder(pairs)[:, 0])
    for block in encoder.blocks:
        torch.nn.init.zeros_(block.attention.W_O.weight)
    assert torch.equal(*encoder(pairs)[:, 0])
