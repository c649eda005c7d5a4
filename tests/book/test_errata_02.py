"""What the second document gets wrong or leaves open, shown: each test guards an entry of the errata."""

import math

import pytest
import torch

from lib.attention import attention, causal_mask, padding_mask, softmax
from lib.corpus import PORTUGUESE, next_sentence_posterior, paragraphs
from lib.corruption import (
    BERT_CHANNEL,
    MASK_ONLY,
    Channel,
    corrupt,
    mask_tokens,
    select_tokens,
)
from lib.encoder import Config, Encoder
from lib.experiments.word_senses import cosines, separation, word_vector
from lib.heads import FineTuned, MLMHead, NSPHead
from lib.losses import IGNORE_INDEX, conditional_entropy, cross_entropy
from lib.pairs import IS_NEXT, NOT_NEXT, next_sentence_pairs
from lib.presets import preset
from lib.sources import AGREES, CORRECTED, compare, example
from lib.tokenizer import Tokenizer
from lib.vocabulary import Vocabulary
from lib.weights import minilm
from tools.console import ROOT

CAT = example("02.1").inputs
DOG = example("02.2").inputs
PAIRS = example("02.3").inputs
X = torch.tensor(CAT["embeddings"], dtype=torch.float64)
H, E = (torch.tensor(DOG[k], dtype=torch.float64) for k in ("h", "E"))
WORDS = ["o", "cachorro", "corre", "rápido", "na", "rua", "em", "gato"]
TOKENIZER = Tokenizer(WORDS, lowercase=True)
VOCABULARY = TOKENIZER.vocabulary
DOG_IDS = torch.tensor([TOKENIZER.encode(" ".join(DOG["tokens"])).ids])
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


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def printed(id, name):
    return torch.tensor([float(x) for x in example(id).figures[name].content], dtype=torch.float64)


@pytest.fixture(scope="module")
def real():
    return minilm(), Tokenizer.minilm()


@pytest.fixture(scope="module")
def small():
    torch.manual_seed(0)
    return Encoder(Config(20, d=16, layers=2, heads=2, positions=16, dropout=0.0)).double().eval()


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
    joint = torch.rand(3, 3, generator=generator(), dtype=torch.float64).flatten().softmax(-1).view(3, 3)
    by_row = joint / joint.sum(1, keepdim=True)  # P(second | first)
    by_column = joint / joint.sum(0, keepdim=True)  # P(first | second)
    p = torch.full((3, 3), 1 / 9, dtype=torch.float64)
    for _ in range(60):
        p = by_row * p.sum(1, keepdim=True)
        p = by_column * p.sum(0, keepdim=True)
    torch.testing.assert_close(p, joint)


@pytest.mark.guards("02.s3")
def test_a_causal_layer_computes_all_positions_in_one_pass():
    at_once, _ = attention(X, X, X, causal_mask(4))
    one_by_one = [attention(X[: i + 1], X[: i + 1], X[: i + 1])[0][-1] for i in range(4)]
    torch.testing.assert_close(at_once, torch.stack(one_by_one))


@pytest.mark.guards("02.s4")
def test_the_padding_mask_stays():
    filled = torch.cat([X, 9 * torch.ones(2, 2, dtype=torch.float64)])[None]
    alone, _ = attention(X[None], X[None], X[None])
    hidden, _ = attention(filled, filled, filled, padding_mask([4], 6))
    torch.testing.assert_close(hidden[:, :4], alone)
    seen, _ = attention(filled, filled, filled)
    assert not torch.allclose(seen[:, :4], alone)


@pytest.mark.guards("02.s5")
def test_weights_and_output_are_different_matrices():
    h, a = attention(X, X, X)
    assert a.shape == (4, 4) and h.shape == (4, 2)
    with pytest.raises(RuntimeError):
        h @ X  # "A = softmax(...) V", then "A V"


@pytest.mark.guards("02.s6")
def test_a_token_attends_to_itself_too():
    assert (attention(X, X, X)[1].diagonal() > 0).all()


@pytest.mark.guards("02.s7")
def test_access_is_not_capture_and_causal_reaches_far_too():
    assert (attention(X, X, 0 * X)[0] == 0).all(), "positive weights, and nothing captured"
    assert attention(X, X, X, causal_mask(4))[1][-1, 0] > 0, "the last token reaches the first"


@pytest.mark.guards("02.s9", "02.s13")
def test_values_do_not_enter_the_weights():
    h, a = attention(X, X, X)
    other, same = attention(X, X, 3 * X)
    assert torch.equal(a, same)
    torch.testing.assert_close(other, 3 * h)


@pytest.mark.guards("02.s10")
def test_bert_and_gpt_differ_in_more_than_the_mask():
    bert, gpt = preset("bert-base"), preset("gpt-1")
    differ = {name for name in vars(bert) if getattr(bert, name) != getattr(gpt, name)}
    assert {"causal", "segments", "embedding_norm", "pooler"} <= differ


@pytest.mark.guards("02.s11")
def test_the_cat_computed_to_the_end():
    h, a = attention(X, X, X)
    torch.testing.assert_close(a.sum(-1), torch.ones(4, dtype=torch.float64))
    expected = torch.tensor([0.234, 0.244, 0.255, 0.266], dtype=torch.float64)
    torch.testing.assert_close(a[0], expected, atol=5e-4, rtol=0)
    torch.testing.assert_close(h[0], torch.tensor([0.411, 0.511]).double(), atol=5e-4, rtol=0)


@pytest.mark.guards("02.s12")
def test_every_word_looks_at_the_longest_vector():
    assert (attention(X, X, X)[1].argmax(-1) == 3).all()
    shuffled = X[[3, 1, 2, 0]]
    assert (attention(shuffled, shuffled, shuffled)[1].argmax(-1) == 0).all()


# Corruption


@pytest.mark.guards("02.s14")
def test_nothing_is_removed():
    ids, _ = mask_tokens(DOG_IDS, VOCABULARY, rate=1.0, generator=generator())
    assert ids.shape == DOG_IDS.shape


@pytest.mark.guards("02.s16", "02.s21")
def test_fifteen_per_cent_are_selected_and_twelve_become_mask():
    many = DOG_IDS.repeat(20_000, 1)
    ids, labels = mask_tokens(many, VOCABULARY, generator=generator())
    words = VOCABULARY.is_ordinary(many).sum()
    selected, masked = (labels != IGNORE_INDEX).sum() / words, (ids == VOCABULARY.mask_id).sum() / words
    assert abs(selected - 0.15) < 0.005 and abs(masked - 0.12) < 0.005
    drawn = (ids != many).sum() / words - masked
    assert abs(drawn - 0.015 * (1 - 1 / len(WORDS))) < 0.002


@pytest.mark.guards("02.s17")
def test_a_random_word_may_be_the_original():
    always_random = Channel(mask=0, random=1, keep=0)
    selected = VOCABULARY.is_ordinary(DOG_IDS).repeat(20_000, 1)
    ids, _ = corrupt(DOG_IDS.repeat(20_000, 1), selected, VOCABULARY, always_random, generator=generator())
    same = (ids == DOG_IDS)[selected].double().mean()
    assert abs(same - 1 / len(WORDS)) < 0.01


@pytest.mark.guards("02.s15", "02.s18")
def test_kept_and_replaced_tokens_are_charged_and_unselected_ones_are_not():
    labels = torch.full_like(DOG_IDS, IGNORE_INDEX)
    labels[0, [2, 5, 6]] = DOG_IDS[0, [2, 5, 6]]  # masked, replaced and kept: the label is all that counts
    u = torch.randn(1, 8, TOKENIZER.size, generator=generator(), dtype=torch.float64).requires_grad_()
    cross_entropy(u, labels).backward()
    assert (u.grad[0].abs().sum(-1) > 0).tolist() == [False, False, True, False, False, True, True, False]


@pytest.mark.guards("02.s19")
def test_with_mask_alone_visible_words_are_never_charged():
    many = DOG_IDS.repeat(2_000, 1)
    for channel, charged in ((MASK_ONLY, False), (BERT_CHANNEL, True)):
        ids, labels = mask_tokens(many, VOCABULARY, channel=channel, generator=generator())
        visible = (labels != IGNORE_INDEX) & (ids != VOCABULARY.mask_id)
        assert visible.any() == charged


@pytest.mark.guards("02.s22")
def test_without_random_words_copying_is_the_best_answer():
    c = torch.tensor([0.98, 0.01, 0.01], dtype=torch.float64)  # the context hardly expects the third word
    vocabulary = Vocabulary(["[MASK]", "a", "b", "c"])

    def belief(channel):
        joint = c * channel.likelihood(torch.tensor([3] * 3), vocabulary.ordinary_ids, vocabulary)
        return (joint / joint.sum())[2]

    assert belief(Channel(mask=0.8, random=0.0, keep=0.2)) == 1
    assert belief(BERT_CHANNEL) < 0.1


@pytest.mark.guards("02.s23")
def test_two_of_six_is_more_than_twice_the_rate():
    assert len(DOG["selecionados"]) / len(DOG["tokens"]) > 2 * 0.15
    chosen = select_tokens(VOCABULARY.is_ordinary(DOG_IDS), generator=generator(), selection="exact")
    assert chosen.sum() == 1


@pytest.mark.guards("02.s24")
def test_the_percentages_are_chances_not_quotas():
    selected = torch.zeros_like(DOG_IDS, dtype=torch.bool)
    selected[0, [2, 5]] = True
    many = DOG_IDS.repeat(4_000, 1)
    ids, _ = corrupt(many, selected.repeat(4_000, 1), VOCABULARY, generator=generator())
    masked = (ids == VOCABULARY.mask_id)[:, [2, 5]]
    fates = masked.long() + 2 * (ids == many)[:, [2, 5]].long()  # 0 replaced, 1 masked, 2 kept
    assert len({tuple(row) for row in fates.tolist()}) == 9


@pytest.mark.guards("02.s25")
def test_a_kept_token_has_a_label():
    selected = VOCABULARY.is_ordinary(DOG_IDS)
    ids, labels = corrupt(DOG_IDS, selected, VOCABULARY, Channel(0, 0, 1), generator=generator())
    assert torch.equal(ids, DOG_IDS) and torch.equal(labels[selected], DOG_IDS[selected])


@pytest.mark.guards("02.s26")
def test_the_random_word_is_uniform():
    always_random = Channel(mask=0, random=1, keep=0)
    selected = torch.zeros_like(DOG_IDS, dtype=torch.bool)
    selected[0, 5] = True
    many, everywhere = DOG_IDS.repeat(40_000, 1), selected.repeat(40_000, 1)
    ids, _ = corrupt(many, everywhere, VOCABULARY, always_random, generator=generator())
    shares = torch.bincount(ids[:, 5], minlength=TOKENIZER.size)[VOCABULARY.ordinary_ids] / 40_000
    assert (shares - 1 / len(WORDS)).abs().max() < 0.01


@pytest.mark.guards("02.s27")
def test_there_is_a_single_mask_in_the_example():
    assert example("02.2").figures["corrompida"].content.count("[MASK]") == 1


# From the vector to the word


@pytest.mark.guards("02.s28")
def test_the_loss_is_a_logarithm_not_a_difference():
    for p in (0.8, 0.1, 0.001):
        loss = cross_entropy(torch.tensor([[p, 1 - p]]).log(), torch.tensor([0])).item()
        assert math.isclose(loss, -math.log(p), rel_tol=1e-5) and abs(loss - (1 - p)) > 0.02
    assert -math.log(0.001) > 1


@pytest.mark.guards("02.s29")
def test_the_printed_product_does_not_exist():
    assert H.shape == (4,) and E.shape == (5, 4)
    with pytest.raises(RuntimeError):
        H @ E
    assert (H @ E.T).shape == (5,)


@pytest.mark.guards("02.s30")
def test_the_printed_logits_come_from_no_product():
    u, wrong = H @ E.T, printed("02.2", "logits")
    assert len(wrong) == 4
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


@pytest.mark.guards("02.s33")
def test_five_words_cannot_hold_the_sentence():
    assert len({*DOG["tokens"], *DOG["trocados"]}) > DOG["vocabulario"]


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
    assert "ora de $h_i$, ora de $z_i$; aqui é sempre $h_i$" in notation


@pytest.mark.guards("02.s37")
def test_segments_are_part_of_the_input(small):
    ids = torch.tensor([[2, 7, 8, 3]])
    a, b = (small(ids, segments=torch.tensor([s])) for s in ([0, 0, 0, 0], [0, 0, 1, 1]))
    assert not torch.allclose(a, b)


# Next sentence prediction


@pytest.mark.guards("02.s38")
def test_half_of_the_pairs_are_true_and_the_others_cross_documents():
    documents = [[[d * 10 + s] for s in range(5)] for d in range(500)]
    pairs = next_sentence_pairs(documents, generator=generator())
    true = sum(pair.label == IS_NEXT for pair in pairs) / len(pairs)
    assert abs(true - 0.5) < 0.05
    for a, b, label in pairs:
        assert (a[0] + 1 == b[0]) if label == IS_NEXT else (a[0] // 10 != b[0] // 10)


@pytest.mark.guards("02.s39", "02.s40")
def test_the_pair_ends_with_sep_and_carries_segments():
    pair = Tokenizer(["a", "b"]).encode("a a", "b")
    assert pair.tokens == ["[CLS]", "a", "a", "[SEP]", "b", "[SEP]"]
    assert pair.segment_ids == [0, 0, 0, 0, 1, 1]
    assert [len(example("02.3").figures[name].content) for name in ("par_1", "par_2")] == [4, 4]


@pytest.mark.guards("02.s41")
def test_the_classifier_reads_the_pooled_vector(small):
    model = FineTuned(small, NSPHead(small.config).double())
    ids = torch.tensor([[2, 7, 3, 8, 3]])
    cls = small(ids)[:, 0]
    pooled = torch.tanh(small.pooler.W(cls))
    torch.testing.assert_close(model(ids), model.head(pooled))
    assert not torch.allclose(model(ids), model.head(cls))


@pytest.mark.guards("02.s43")
def test_the_best_nsp_answer_of_the_grammar_ignores_order():
    ids = paragraphs(PORTUGUESE, 40, 2, seed=0).ids
    first, second = ids[::2], ids[1::2]
    forth = next_sentence_posterior(PORTUGUESE, first, second)
    torch.testing.assert_close(forth, next_sentence_posterior(PORTUGUESE, second, first))
    assert forth.mean() > 0.8, "topics alone answer well"


@pytest.mark.guards("02.s44")
def test_related_is_not_adjacent():
    """Two documents on one topic: the pair across them is as likely by topic, and its label says no."""
    ids = paragraphs(PORTUGUESE, 1, 3, seed=4).ids
    documents = [[ids[0].tolist(), ids[1].tolist()], [ids[2].tolist()]]
    (pair,) = next_sentence_pairs(documents, generator=generator(), next_rate=0.0)
    assert pair.label == NOT_NEXT and pair.b == ids[2].tolist()
    assert next_sentence_posterior(PORTUGUESE, ids[[0]], ids[[2]]) > 0.5


@pytest.mark.guards("02.s45")
def test_labels_come_from_documents():
    with pytest.raises(ValueError, match="at least two"):
        next_sentence_pairs([[[1], [2], [3]]], generator=generator())


@pytest.mark.guards("02.s46")
def test_zero_means_next_in_bert():
    pairs = next_sentence_pairs([[[1], [2]], [[3]]], generator=generator(), next_rate=1.0)
    assert [pair.label for pair in pairs] == [0]


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


@pytest.mark.guards("02.s50")
def test_causal_vectors_are_contextual_too(small):
    a, b = small(torch.tensor([[5, 9], [6, 9]]), causal=True)[:, 1]
    assert not torch.allclose(a, b)


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
    a, b = torch.rand(2, 5_000, 4, generator=generator(), dtype=torch.float64)
    below = (torch.cosine_similarity(a, b, dim=-1) < 0.483).double().mean()
    assert 0 < below < 0.5, "some of them lower than the document's, with no word behind them"


@pytest.mark.guards("02.s59")
def test_position_alone_changes_the_vector(small):
    h = small(torch.tensor([[9, 9]]))[0]
    assert not torch.allclose(h[0], h[1])


@pytest.mark.guards("02.s61")
def test_nothing_makes_cls_a_summary_by_construction(small):
    """With attention that hands nothing on, [CLS] is the same vector whatever the two sentences say."""
    silent = Encoder(small.config).double().eval()
    for block in silent.blocks:
        torch.nn.init.zeros_(block.attention.W_O.weight)
    pairs = torch.tensor([[2, 7, 3, 8, 3], [2, 9, 3, 10, 3]])
    a, b = silent(pairs)[:, 0]
    assert torch.equal(a, b)
    a, b = small(pairs)[:, 0]
    assert not torch.equal(a, b)


@pytest.mark.guards("02.s62")
def test_tasks_rest_on_the_representations(small):
    ids = torch.tensor([[2, 7, 3, 8, 3]])
    first, second = (FineTuned(small, NSPHead(small.config).double()) for _ in range(2))
    assert not torch.allclose(first(ids), second(ids))
    assert torch.equal(first.encoder(ids), second.encoder(ids))
