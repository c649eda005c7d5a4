"""Every head against the reference's model for the same task, and what each refuses."""

from dataclasses import replace

import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st

from lib import heads
from lib.attention import padding_mask
from lib.encoder import Config, Encoder
from lib.parameters import count
from lib.weights import encoder_from
from tests.randomness import seeded
from tests.reference import ARCHITECTURES, batch, randomise
from tests.refusals import refuses

CONFIG = ARCHITECTURES["bert"]
SMALL = Config(29, d=12, layers=1, heads=3, positions=16, dropout=0.0)


def pair(kind: type, head: type, **options):
    """The reference's model for a task, and ours with its weights."""
    model = randomise(kind(transformers.BertConfig(**CONFIG.to_dict() | options)), 3).eval()
    encoder = encoder_from(CONFIG.to_dict(), model.bert.state_dict())
    mine = head(encoder.config, options["num_labels"]) if "num_labels" in options else head(encoder.config)
    layer = next(m for name, m in model.named_modules() if name in LAYERS)
    mine.W.load_state_dict(layer.state_dict())
    return heads.FineTuned(encoder, mine).eval(), model


LAYERS = ("classifier", "qa_outputs", "cls.seq_relationship")


@pytest.mark.guards("02.s41", "02.s62")
@pytest.mark.parametrize(
    ("kind", "head", "options"),
    [
        (transformers.BertForSequenceClassification, heads.SequenceHead, {"num_labels": 5}),
        (transformers.BertForSequenceClassification, heads.PairHead, {"num_labels": 3}),
        (transformers.BertForNextSentencePrediction, heads.NSPHead, {}),
        (transformers.BertForTokenClassification, heads.TokenHead, {"num_labels": 7}),
        (transformers.BertForQuestionAnswering, heads.SpanHead, {}),
    ],
)
def test_parity_with_the_reference(kind, head, options):
    mine, model = pair(kind, head, **options)
    ids, mask = batch(CONFIG, 4, 11, 0)
    segments = (torch.arange(11) > 5).long().expand(4, 11)
    with torch.no_grad():
        scores = mine(ids, mask, segments)
        theirs = model(ids, attention_mask=mask.long(), token_type_ids=segments)
    if head is heads.SpanHead:
        for a, b in zip(scores, (theirs.start_logits, theirs.end_logits), strict=True):
            torch.testing.assert_close(a[mask], b[mask], atol=1e-5, rtol=0)
    else:
        a, b = (scores, theirs.logits) if head.pooled else (scores[mask], theirs.logits[mask])
        torch.testing.assert_close(a, b, atol=1e-5, rtol=0)


def test_a_word_is_judged_by_its_pieces_and_by_its_neighbours():
    """Loops over the words of [CLS] one two-two three [SEP] [PAD], each with the means of its pieces."""
    torch.manual_seed(0)
    head, hidden = heads.WordHead(SMALL, 3).eval(), torch.randn(2, 7, SMALL.d)
    words = torch.tensor([[0, 1, 2, 2, 3, 4, -1], [0, 1, 1, 1, 2, 3, 4]])
    scores = head(hidden, words)
    for row, numbers in enumerate(words.tolist()):
        means = {w: hidden[row, [i for i, n in enumerate(numbers) if n == w]].mean(0) for w in numbers}
        for i, w in enumerate(numbers):
            if 0 < w < max(numbers):
                expected = head.W(torch.cat([means[w - 1], means[w], means[w + 1]]))
                torch.testing.assert_close(scores[row, i], expected)
    assert head.W.in_features == 3 * SMALL.d and heads.FineTuned(Encoder(SMALL), head).head is head


def test_the_unembedding_is_the_token_table():
    torch.manual_seed(0)
    model = heads.MaskedLM(SMALL).eval()
    ids = torch.ones(1, 3, dtype=torch.long)
    before = model(ids)[..., 7].clone()
    with torch.no_grad():
        model.encoder.embeddings.token.weight[7, 0] += 1  # 7 is not in the input: only the output can change
    assert not torch.allclose(model(ids)[..., 7], before)
    weights = sum(p.numel() for p in model.parameters())
    assert weights == count(SMALL, mlm_head=True).total, "the table counts once"


@pytest.mark.guards("01.s21", "03.s13")
@pytest.mark.catches("passo maior que a perna")
def test_a_causal_model_predicts_the_next_token_only():
    torch.manual_seed(0)
    model = heads.CausalLM(replace(SMALL, causal=True)).double()
    ids = torch.randint(1, 29, (2, 6))
    log_p = model(ids).log_softmax(-1)
    for lengths in ([6, 6], [6, 4]):
        of_next = [log_p[b, t, ids[b, t + 1]] for b, n in enumerate(lengths) for t in range(n - 1)]
        torch.testing.assert_close(model.loss(ids, padding_mask(lengths)[:, 0]), -torch.stack(of_next).mean())
    torch.testing.assert_close(model.loss(ids), model.loss(ids, padding_mask([6, 6])[:, 0]))


@given(st.integers(1, 4), st.integers(1, 7), st.integers(0, 999), st.none() | st.integers(1, 7))
def test_best_span_equals_trying_all(b, n, seed, max_length):
    g = seeded(seed)
    start, end = torch.randn(2, b, n, generator=g)
    allowed = torch.rand(b, n, generator=g) < 0.7
    allowed[:, n // 2] = True
    for row, (i, j) in enumerate(heads.best_span(start, end, allowed, max_length).tolist()):
        pairs = [
            (p, q)
            for p in range(n)
            for q in range(p, min(n, p + (max_length or n)))
            if allowed[row, p] and allowed[row, q]
        ]
        assert (i, j) == max(pairs, key=lambda pq: start[row, pq[0]] + end[row, pq[1]])


def test_span_loss_is_the_mean_of_two_cross_entropies_over_the_allowed():
    torch.manual_seed(0)
    start, end = torch.randn(2, 3, 6, requires_grad=True).unbind(0)
    allowed = torch.tensor([[True] * 6, [False, True, True, True, False, False], [True] * 5 + [False]])
    span = torch.tensor([[0, 5], [1, 3], [4, 4]])
    parts = []
    for row in range(3):
        keep = allowed[row].nonzero().squeeze(1)
        for x, y in ((start, span[row, 0]), (end, span[row, 1])):
            parts.append(torch.logsumexp(x[row, keep], 0) - x[row, y])
    loss = heads.span_loss(start, end, span, allowed)
    torch.testing.assert_close(loss, torch.stack(parts).mean())
    loss.backward()


POISONED = heads.MaskedLM(SMALL).eval()
HEADS = (heads.SequenceHead(SMALL, 2), heads.NSPHead(SMALL), heads.TokenHead(SMALL, 2), heads.SpanHead(SMALL))
with torch.no_grad():
    POISONED.head.bias[0] = torch.nan
    for head in HEADS:
        head.W.bias[0] = torch.inf
ONES, NO_POOLER = torch.ones(2, 3, dtype=torch.long), Encoder(replace(SMALL, pooler=False))
ZEROS, ALLOWED = torch.zeros(2, 3), torch.tensor([[True] * 3, [True, True, False]])

test_bad_input_is_named = refuses(
    (lambda: heads.FineTuned(NO_POOLER, heads.NSPHead(SMALL)), "build encoder with pooler=True"),
    (lambda: heads.MaskedLM(SMALL).loss(ONES, ONES[:1]), r"labels must have the shape of ids, \(2, 3\)"),
    (lambda: heads.MaskedLM(SMALL).loss(ONES, torch.full_like(ONES, -100)), "select no position"),
    (lambda: heads.best_span(ZEROS, ZEROS, ZEROS.bool()), "at least one position"),
    (
        lambda: heads.WordHead(SMALL, 2)(torch.zeros(2, 3, 12), ONES[:1]),
        r"words must be integers of shape \(2, 3\)",
    ),
    (lambda: heads.span_loss(ZEROS, ZEROS, ONES, ALLOWED), r"span must have shape \(B, 2\)"),
    (lambda: heads.span_loss(ZEROS, ZEROS, torch.tensor([[0, 1], [1, 2]]), ALLOWED), "allowed marks as True"),
)
test_nan_does_not_leave_silently = refuses(
    (lambda: POISONED(ONES), "logits hold NaN"),
    (lambda: POISONED.loss(ONES, ONES), "logits must hold no NaN"),
    *(
        (lambda head=head: heads.FineTuned(Encoder(SMALL), head)(ONES), "scores hold NaN or inf")
        for head in HEADS
    ),
)
