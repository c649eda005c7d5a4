"""What stands on top of the encoder: one small layer per task, all fed by the same hidden states.

A head turns hidden states (B, N, d) into scores. Those that judge a whole sentence read the pooled [CLS]
vector (B, d); those that judge tokens read every position. `MaskedLM` is what BERT is pre-trained as,
`CausalLM` what GPT is, `FineTuned` an encoder with any other head.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from lib import checks
from lib.dropout import Dropout
from lib.encoder import ACTIVATIONS, Config, Encoder, initialise
from lib.losses import IGNORE_INDEX, cross_entropy


class MLMHead(nn.Module):
    """Logits over the vocabulary: norm(f(W h + b)) E^T + bias, where E is the token table itself.

    The unembedding is tied: E is handed in at each call, so there is one matrix, not two that must agree.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.W = nn.Linear(config.d, config.d)
        self.f = ACTIVATIONS[config.activation]
        self.norm = nn.LayerNorm(config.d, config.norm_eps)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.apply(initialise)

    def forward(self, hidden: Tensor, E: Tensor) -> Tensor:
        checks.tensor("E", E, checks.FLOATS, (len(self.bias), self.W.in_features))
        if checks.tensor("hidden", hidden).shape[-1:] != E.shape[1:]:
            raise ValueError(f"hidden must be (..., d) with d={E.shape[1]}, got {tuple(hidden.shape)}")
        return nn.functional.linear(self.transform(hidden), E, self.bias)  # (..., d) -> (..., V)

    def transform(self, hidden: Tensor) -> Tensor:
        return self.norm(self.f(self.W(hidden)))  # (..., d)


class MaskedLM(nn.Module):
    """The encoder with its MLM head: the plain version, which scores every position."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.encoder = Encoder(config)
        self.head = MLMHead(config)

    def forward(self, ids: Tensor, mask: Tensor | None = None, segments: Tensor | None = None) -> Tensor:
        return checks.finite(self.logits(self.encoder(ids, mask, segments)), "logits")  # (B, N, V)

    def logits(self, hidden: Tensor) -> Tensor:
        return self.head(hidden, self.encoder.embeddings.token.weight)  # (..., d) -> (..., V)

    def loss(
        self, ids: Tensor, labels: Tensor, mask: Tensor | None = None, segments: Tensor | None = None
    ) -> Tensor:
        """Mean cross-entropy over the selected positions, those whose label is not IGNORE_INDEX."""
        checks.labels_of(ids, labels, self.encoder.config.vocab_size, IGNORE_INDEX)
        return cross_entropy(self.logits(self.encoder(ids, mask, segments)), labels)


class PairsLM(MaskedLM):
    """BERT as it was pre-trained: the MLM head on every token, the next-sentence head on the pooled [CLS]."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        if self.encoder.pooler is None:
            raise ValueError("config.pooler must be True: next sentence prediction reads the pooled vector")
        self.nsp = NSPHead(config)


class CausalLM(nn.Module):
    """The left-to-right model of GPT-1: logits h E^T, where position t scores the token at t + 1."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        if not checks.instance("config", config, Config).causal:
            raise ValueError("config.causal must be True: a model that sees token t + 1 need not predict it")
        self.encoder = Encoder(config)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        return checks.finite(self.logits(self.encoder(ids, mask)), "logits")  # (B, N, V)

    def logits(self, hidden: Tensor) -> Tensor:
        return hidden @ self.encoder.embeddings.token.weight.T  # (..., d) -> (..., V)

    def loss(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Mean cross-entropy of each real token after the first, given those on its left."""
        hidden = self.encoder(ids, mask)  # (B, N, d)
        if mask is not None and mask.dim() != 2:
            raise ValueError(f"mask must mark the real tokens, (B, N), got {tuple(mask.shape)}")
        labels = ids if mask is None else ids.masked_fill(~mask, IGNORE_INDEX)
        return cross_entropy(self.logits(hidden[:, :-1]), labels[:, 1:])


class Head(nn.Module):
    """What the heads below have in common: one layer W, over the pooled vector or over every token."""

    pooled: bool
    drops = True  # while training, as much of what it reads as the encoder does
    reads = 1  # vectors at a time

    def __init__(self, config: Config, labels: int) -> None:
        super().__init__()
        self.dropout = Dropout(config.dropout if self.drops else 0.0)
        if isinstance(labels, list | tuple):
            raise TypeError(
                f"labels must be a number of classes, here {len(labels)}: FineTuned takes the names"
            )
        self.W = nn.Linear(self.reads * config.d, checks.integer("labels", labels, 1))
        self.apply(initialise)

    def scores(self, x: Tensor) -> Tensor:
        name, shape = ("pooled", "(B, d)") if self.pooled else ("hidden", "(B, N, d)")
        checks.vectors(name, x, shape, self.W)
        return checks.finite(self.W(self.dropout(x)), "scores")  # (..., d) -> (..., labels)


class SequenceHead(Head):
    """Scores of `labels` classes for a whole sentence, from the pooled [CLS] vector."""

    pooled = True

    def forward(self, pooled: Tensor) -> Tensor:
        return self.scores(pooled)  # (B, d) -> (B, labels)


class PairHead(SequenceHead):
    """Natural language inference: does the first sentence entail, contradict or not decide the second?

    The layer is that of a single sentence. What makes it a judgement on two is the input,
    [CLS] A [SEP] B [SEP] with segments 0 and 1: attention runs between A and B in every block.
    """

    def __init__(self, config: Config, labels: int = 3) -> None:
        super().__init__(config, labels)


class NSPHead(SequenceHead):
    """Next sentence prediction: logits of (B follows A, B is random), from the pooled vector."""

    drops = False

    def __init__(self, config: Config) -> None:
        super().__init__(config, 2)


class TokenHead(Head):
    """Scores of `labels` classes for every token: part of speech, named entities."""

    pooled = False

    def forward(self, hidden: Tensor) -> Tensor:
        return self.scores(hidden)  # (B, N, d) -> (B, N, labels)


class WordHead(TokenHead):
    """Scores for every word, from the one before it, itself and the one after it: W [h_-1; h_0; h_+1] + b.

    The vector of a word is the mean of its pieces. In the words of attention: three heads that need not learn
    where to look, because `words` (B, N), the number of the word that each token belongs to, says it.
    """

    reads = 3

    def forward(self, hidden: Tensor, words: Tensor) -> Tensor:
        d = self.W.in_features // self.reads
        if checks.tensor("hidden", hidden).dim() != 3 or hidden.shape[-1] != d:
            raise ValueError(f"hidden must have shape (B, N, d) with d={d}, got {tuple(hidden.shape)}")
        checks.tensor("words", words, checks.INTEGERS, hidden.shape[:2])
        there = [words[:, :, None] + k == words[:, None, :] for k in (-1, 0, 1)]  # 3 times (B, N, N)
        maps = torch.stack(there, 1).to(hidden)  # (B, 3, N, N)
        maps = maps / maps.sum(-1, keepdim=True).clamp(min=1)  # equal weights; no word there: zeros
        near = maps @ hidden[:, None]  # (B, 3, N, d)
        return self.scores(near.transpose(1, 2).flatten(2))  # (B, N, 3 d) -> (B, N, labels)


class SpanHead(Head):
    """Extractive question answering: how well does the answer start here, and end here?"""

    pooled = drops = False

    def __init__(self, config: Config) -> None:
        super().__init__(config, 2)

    def forward(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        start, end = self.scores(hidden).unbind(-1)  # (B, N, d) -> 2 times (B, N)
        return start, end


class FineTuned(nn.Module):
    """A pre-trained encoder under a new head, trained together; `labels` are the names of its classes."""

    def __init__(self, encoder: Encoder, head: Head, labels: Sequence[str] | None = None) -> None:
        super().__init__()
        checks.instance("encoder", encoder, Encoder)
        if not isinstance(getattr(head, "pooled", None), bool):
            raise TypeError(f"head must be one of this module, which says what it reads; got {head!r}")
        if head.pooled and encoder.pooler is None:
            raise ValueError(f"{type(head).__name__} reads the pooled vector: build encoder with pooler=True")
        if (reads := head.W.in_features // head.reads) != encoder.config.d:
            raise ValueError(f"head reads d={reads} numbers, encoder gives d={encoder.config.d}")
        if labels is not None and len(set(labels)) != head.W.out_features:
            raise ValueError(f"labels must name {head.W.out_features} different classes, got {list(labels)}")
        self.encoder, self.head = encoder, head
        self.labels = None if labels is None else tuple(labels)

    def forward(
        self,
        ids: Tensor,
        mask: Tensor | None = None,
        segments: Tensor | None = None,
        words: Tensor | None = None,
    ):
        hidden = self.encoder(ids, mask, segments)
        if isinstance(self.head, WordHead):
            return self.head(hidden, checks.instance("words", words, Tensor, "which word each token is of"))
        pooler = self.encoder.pooler if self.head.pooled else None
        return self.head(hidden if pooler is None else pooler(hidden))


def span_loss(start: Tensor, end: Tensor, span: Tensor, allowed: Tensor) -> Tensor:
    """Mean of the two cross-entropies of the true span (B, 2), over the `allowed` (B, N) positions."""
    _require_scores(start, end, allowed)
    if checks.tensor("span", span).shape != (len(start), 2):
        raise ValueError(f"span must have shape (B, 2) = ({len(start)}, 2), got {tuple(span.shape)}")
    if span.dtype != torch.int64:
        raise TypeError(f"span must be integers (torch.long), got {span.dtype}")
    if not ((span >= 0) & (span < start.shape[1])).all() or (span[:, 0] > span[:, 1]).any():
        raise ValueError(f"span must have 0 <= start <= end < {start.shape[1]}, got {span.tolist()}")
    if not allowed.gather(1, span).all():
        raise ValueError("span must start and end at positions that allowed marks as True")
    start, end = (x.masked_fill(~allowed, -torch.inf) for x in (start, end))
    return (cross_entropy(start, span[:, 0]) + cross_entropy(end, span[:, 1])) / 2


def best_span(start: Tensor, end: Tensor, allowed: Tensor, max_length: int | None = None) -> Tensor:
    """The (B, 2) pairs i <= j that maximise start_i + end_j among the `allowed` (B, N) positions."""
    _require_scores(start, end, allowed)
    if max_length is not None:
        checks.integer("max_length", max_length, 1)
    if not allowed.any(-1).all():
        raise ValueError("allowed must leave at least one position in every sentence; one has none")
    checks.finite(start[allowed] + end[allowed], "start and end")
    n = start.shape[-1]
    i, j = torch.arange(n)[:, None], torch.arange(n)[None, :]
    ordered = (i <= j) & (j - i < (max_length or n))  # (N, N)
    scores = start[:, :, None] + end[:, None, :]  # (B, N, N)
    scores = scores.masked_fill(~(ordered & allowed[:, :, None] & allowed[:, None, :]), -torch.inf)
    best = scores.flatten(1).argmax(-1)  # (B,)
    return torch.stack((best // n, best % n), -1)  # (B, 2)


def _require_scores(start: Tensor, end: Tensor, allowed: Tensor) -> None:
    given = {"start": start, "end": end, "allowed": allowed}
    shapes = {name: tuple(checks.tensor(name, x).shape) for name, x in given.items()}
    if start.dim() != 2 or len(set(shapes.values())) > 1:
        raise ValueError(f"start, end and allowed must share one shape (B, N), got {shapes}")
    if allowed.dtype != torch.bool:
        raise TypeError(f"allowed must be boolean, True at the positions of the text, got {allowed.dtype}")
