"""Can the label of a pair be told from B alone? A small classifier that never sees A tries."""

import pytest
import torch
from scipy.stats import binomtest
from torch import Tensor
from torch.nn.functional import one_hot

from lib.corpus import PORTUGUESE, porttinari
from lib.losses import cross_entropy
from lib.pairs import NOT_NEXT, SentencePair
from lib.tokenizer import Tokenizer
from lib.training.data import GrammarSource, Source, TextSource
from tests.randomness import seeded

BATCHES, BATCH = 4, 400
FALSE_ALARM = 1e-9


def news() -> TextSource:
    sentences = porttinari.load("dev")
    tokenizer = Tokenizer.train([str(s) for s in sentences], 500)
    documents: dict[str, list[list[int]]] = {}
    for s in sentences:
        documents.setdefault(s.document, []).append(tokenizer.encode(str(s)).ids[1:-1])
    return TextSource(list(documents.values()), tokenizer.vocabulary, BATCH, max_length=64)


def drawn(source: Source) -> list[SentencePair]:
    """The pairs of a few steps, read back from their rows."""
    pairs = []
    for step in range(BATCHES):
        for ids, segments, length, label in zip(*source.pairs(step), strict=True):
            first = int(segments.argmax())
            a, b = ids[1 : first - 1], ids[first : length - 1]
            pairs.append(SentencePair(a.tolist(), b.tolist(), int(label)))
    return pairs


def told_by_b_alone(pairs: list[SentencePair], size: int) -> float:
    """How likely chance would do as well as a logistic regression, fitted to one half and tried on the other.

    It knows which tokens B has, which is the first and which the last, and how many there are.
    """
    torch.manual_seed(0)
    x = torch.stack([features(torch.tensor(pair.b), size) for pair in pairs])
    y = torch.tensor([pair.label for pair in pairs])
    half, model = len(x) // 2, torch.nn.Linear(x.shape[1], 2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02, weight_decay=0.1)
    for _ in range(100):
        optimizer.zero_grad()
        cross_entropy(model(x[:half]), y[:half]).backward()
        optimizer.step()
    right = (model(x[half:]).argmax(1) == y[half:]).sum()
    return binomtest(int(right), len(x) - half, 0.5, alternative="greater").pvalue


def features(b: Tensor, size: int) -> Tensor:
    tokens = one_hot(b, size).float()  # (N, V)
    return torch.cat([tokens.amax(0), tokens[0], tokens[-1], torch.tensor([len(b) / 10])])


@pytest.mark.parametrize("source", [news, lambda: GrammarSource(PORTUGUESE, BATCH)], ids=["news", "grammar"])
def test_the_second_sentence_alone_does_not_tell_the_label(source):
    made = source()
    assert told_by_b_alone(drawn(made), len(made.vocabulary)) > FALSE_ALARM


def test_openings_as_strangers_would_tell_the_label():
    """The classifier can fail the test above: it notices the strangers that once were drawn here."""
    made, g = news(), seeded(1)
    openings = [document[0][:30] for document in made.documents]
    pairs = [
        pair._replace(b=openings[int(torch.randint(len(openings), (), generator=g))])
        if pair.label == NOT_NEXT
        else pair
        for pair in drawn(made)
    ]
    assert told_by_b_alone(pairs, len(made.vocabulary)) < FALSE_ALARM
