"""Fine-tuning: a pre-trained encoder, a new head, a few labelled sentences, and the same gradient for both.

One function for the four tasks of BERT. The head says what the target is: a class per sentence
(`SequenceHead`, `PairHead`), a class per token (`TokenHead`, IGNORE_INDEX where there is none) or the ends
of an answer (`SpanHead`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from lib import checks
from lib.corruption import select_tokens
from lib.encoder import Encoder
from lib.heads import FineTuned, Head, SpanHead, TokenHead, best_span, span_loss
from lib.losses import IGNORE_INDEX, cross_entropy
from lib.progress import bar
from lib.training.data import generator, seed_dropout
from lib.training.optimizers import Recipe, adamw
from lib.vocabulary import PAD, Vocabulary, pad

ENCODER = "encoder"
LISTS = "texts and labels in lists are learnt by lib.use.train_classifier(model, tokenizer, texts, labels)"


class Labelled(NamedTuple):
    """Sentences with what is to be told of them; for pairs, `segments` say which is which."""

    ids: Tensor  # (B, N)
    real: Tensor  # (B, N), False at padding
    target: Tensor  # (B,) a class; (B, N) a class per token; (B, 2) the ends of a span
    segments: Tensor | None = None  # (B, N)
    allowed: Tensor | None = None  # (B, N) where a span may lie; None: at every real token
    words: Tensor | None = None  # (B, N) which word a token is a piece of: [CLS] is 0, padding -1

    def rows(self, at: Tensor) -> "Labelled":
        """Some of the sentences, without the columns that are padding in all of them."""
        width = int(self.real[at].sum(1).max())

        def cut(x: Tensor) -> Tensor:
            return x[at][:, :width] if x.shape == self.ids.shape else x[at]

        return self._replace(**{name: cut(x) for name, x in self._asdict().items() if x is not None})


def fine_tune(
    encoder: Encoder,
    head: Head,
    examples: Labelled,
    *,
    epochs: int = 3,
    batch: int = 32,
    lr: float = 5e-4,
    freeze: int | str = 0,
    hide: float = 0.0,
    vocabulary: Vocabulary | None = None,
    seed: int = 0,
    progress: str | None = None,
) -> FineTuned:
    """Train `head` on `examples`, and the encoder under it; returns both, in evaluation mode.

    `progress` labels a bar, if one is to be seen.

    `freeze` keeps what was learnt before: "encoder" all of it, so that only head and pooler learn; k > 0 the
    embeddings and the k lowest blocks; 0 nothing. The encoder is changed in place: pass a copy to keep it.
    `hide` shows that share of the tokens as the [MASK] of `vocabulary`, others in every epoch, and asks for
    the same target: the model learns to do without each word, as it will have to with words it never saw.
    """
    checks.instance("examples", examples, Labelled, LISTS)
    checks.integer("epochs", epochs, 1)
    checks.integer("batch", batch, 1)
    if checks.probability("hide", hide) and vocabulary is None:
        raise ValueError(f"hide={hide} needs the vocabulary, to know its [MASK] and which tokens are special")
    model = FineTuned(encoder, head).train()
    frozen = freeze_parts(encoder, freeze)
    count = len(examples.ids)
    recipe = Recipe(epochs * -(-count // batch), lr)
    optimizer = adamw(model, recipe)
    drawn = bar(recipe.steps, progress or "", shown=progress is not None)
    step = 0
    lengths = examples.real.sum(1)
    for epoch in range(epochs):
        for at in like_lengths(lengths, batch, generator(seed, "order", epoch)):
            for group in optimizer.param_groups:
                group["lr"] = recipe.rate(step)
            some = examples.rows(at)
            if hide and vocabulary is not None:
                some = hide_tokens(some, hide, vocabulary, generator(seed, "hide", step))
            seed_dropout(seed, step)
            optimizer.zero_grad(set_to_none=True)
            task_loss(model, some).backward()
            nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
            optimizer.step()
            step += 1
            drawn.step()
    drawn.close()
    for p in frozen:
        p.requires_grad_(True)
    return model.eval()


def hide_tokens(examples: Labelled, rate: float, vocabulary: Vocabulary, g: torch.Generator) -> Labelled:
    """The examples with some of their tokens, though no special ones, behind [MASK]."""
    hidden = select_tokens(vocabulary.is_ordinary(examples.ids), rate, generator=g)
    return examples._replace(ids=examples.ids.masked_fill(hidden, vocabulary.mask_id))


def like_lengths(lengths: Tensor, batch: int, g: torch.Generator, window: int = 8) -> list[Tensor]:
    """Every sentence once, in random batches of similar length: less padding, so less work for an epoch.

    Sentences are sorted only within windows of a few batches, so that who meets whom still depends on chance.
    """
    order = torch.randperm(len(lengths), generator=g)
    batches = [
        part
        for some in order.split(window * batch)
        for part in some[lengths[some].argsort(stable=True)].split(batch)
    ]
    return [batches[i] for i in torch.randperm(len(batches), generator=g)]


def freeze_parts(encoder: Encoder, freeze: int | str) -> list[nn.Parameter]:
    """Take the frozen parameters out of training, and return them."""
    blocks = len(encoder.blocks)
    if freeze == ENCODER:
        parts = [encoder.embeddings, *encoder.blocks, encoder.norm]  # masked words never taught the pooler
    elif isinstance(freeze, int) and not isinstance(freeze, bool) and 0 <= freeze <= blocks:
        parts = [encoder.embeddings, *encoder.blocks[:freeze]] if freeze else []
    else:
        raise ValueError(f'freeze must be "{ENCODER}" or a number from 0 to {blocks}, got {freeze!r}')
    parameters = [p for part in parts for p in part.parameters()]
    for p in parameters:
        p.requires_grad_(False)
    return parameters


def task_loss(model: FineTuned, examples: Labelled) -> Tensor:
    """Mean cross-entropy of the true class, of every true class, or of the true ends of the span."""
    scores = model(examples.ids, examples.real, examples.segments, examples.words)
    if isinstance(model.head, SpanHead):
        start, end = scores
        return span_loss(start, end, examples.target, span_places(examples))
    return cross_entropy(scores, examples.target)


@torch.no_grad()
def predict(model: FineTuned, examples: Labelled, batch: int = 256) -> Tensor:
    """The likeliest target of each sentence: (B,), (B, N) or (B, 2), as the head has it."""
    if model.training:
        raise ValueError("model must be in evaluation mode to predict: call model.eval() first")
    rows = []
    for part in torch.arange(len(examples.ids)).split(batch):
        # The columns are those of `examples`, so that the parts can be joined again.
        some = examples._replace(**{k: x[part] for k, x in examples._asdict().items() if x is not None})
        scores = model(some.ids, some.real, some.segments, some.words)
        if isinstance(model.head, SpanHead):
            start, end = scores
            rows.append(best_span(start, end, span_places(some)))
        else:
            rows.append(scores.argmax(-1))
    return torch.cat(rows)


def accuracy(model: FineTuned, examples: Labelled) -> float:
    """Share of right answers: sentences, labelled tokens, or spans right at both ends."""
    right = predict(model, examples) == examples.target
    if isinstance(model.head, TokenHead):
        right = right[examples.target != IGNORE_INDEX]
    elif isinstance(model.head, SpanHead):
        right = right.all(-1)
    return right.double().mean().item()


def span_places(examples: Labelled) -> Tensor:
    return examples.real if examples.allowed is None else examples.allowed & examples.real


def labelled(rows: Sequence[Sequence[int]], target: Tensor, pad_id: int = PAD) -> Labelled:
    """Padded `Labelled` sentences from lists of ids."""
    if not isinstance(target, Tensor):
        raise TypeError(f"target must be a tensor of numbers, got {type(target).__name__}: {LISTS}")
    ids = pad([torch.tensor(row) for row in rows], pad_id)
    real = torch.arange(ids.shape[1]) < torch.tensor([len(r) for r in rows])[:, None]
    return Labelled(ids, real, target)
