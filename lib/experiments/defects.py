"""Mistakes that public courses and libraries really made, each small enough to run beside the right code.

A broken function has the signature of the one in `lib` that it imitates, so that it can take its place: the
museum of defects shows what it does to the numbers, and the tests put it into the course and require that a
check fails. `CATALOGUE` says what each imitates and where it was found. Nothing else should use this module.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import torch
from torch import Tensor

from lib.attention import attention, causal_mask
from lib.corruption import BERT_CHANNEL, Corrupted, corrupt, select_tokens
from lib.losses import IGNORE_INDEX, cross_entropy, perplexity
from lib.pairs import IS_NEXT, NOT_NEXT, SentencePair
from lib.vocabulary import Vocabulary

Broken = TypeVar("Broken", bound=Callable)
CATALOGUE: dict[str, "Defect"] = {}


@dataclass(frozen=True)
class Defect:
    """Where `broken` was found, and what of `lib` it imitates ("module.name")."""

    broken: Callable
    imitates: str
    found: str


def defect(name: str, imitates: str, found: str) -> Callable[[Broken], Broken]:
    """Put the function below into the catalogue."""

    def entered(broken: Broken) -> Broken:
        CATALOGUE[name] = Defect(broken, imitates, found)
        return broken

    return entered


# Attention


@defect("máscara invertida", "lib.attention.causal_mask", "rasbt/LLMs-from-scratch, issue 1061")
def inverted_causal_mask(n: int) -> Tensor:
    """True at the future: right for a library where True hides, wrong for one where True allows."""
    return ~causal_mask(n)


@defect(
    "eixo trocado",
    "lib.attention.attention",
    "labmlai/annotated_deep_learning_paper_implementations, issue 146",
)
def attention_over_queries(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None):
    """The softmax runs down the columns: each key, not each query, shares out a weight of one."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (..., N_q, N_k)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores, -2).nan_to_num(0.0)
    return weights @ v, weights


@defect("raiz errada", "lib.attention.attention", "aladdinpersson/Machine-Learning-Collection, issue 65")
def attention_scaled_by_model(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, heads: int = 12):
    """Divides by the root of d, the size of the model, instead of d_k = d / heads, the size of a head."""
    return attention(q, k, v, mask, scale=1 / math.sqrt(heads * q.shape[-1]))


@defect("linha vazia", "lib.attention.softmax", "pytorch/pytorch, issue 103963")
def softmax_of_anything(scores: Tensor, dim: int = -1) -> Tensor:
    """No answer for a row that is hidden whole: 0/0, which spreads."""
    return torch.softmax(scores, dim)


# Corruption


def _any_word(ids: Tensor, vocabulary: Vocabulary, generator: torch.Generator) -> Tensor:
    words = vocabulary.ordinary_ids
    return words[torch.randint(len(words), ids.shape, generator=generator)].to(ids.dtype)


@defect("dois sorteios", "lib.corruption.corrupt", "lucidrains/mlm-pytorch, issue 6")
def corrupt_with_two_draws(
    ids, selected, vocabulary, channel=BERT_CHANNEL, *, generator, **options
) -> Corrupted:
    """First the random words; then, among what is left, the words to keep. What is left again is masked."""
    is_random = torch.rand(ids.shape, generator=generator) < channel.random
    is_kept = torch.rand(ids.shape, generator=generator) < channel.keep
    word = _any_word(ids, vocabulary, generator)
    noisy = torch.where(is_random, word, torch.where(is_kept, ids, vocabulary.mask_id))
    return Corrupted(torch.where(selected, noisy, ids), torch.where(selected, ids, IGNORE_INDEX))


@defect(
    "sorteio contra si mesmo",
    "lib.corruption.corrupt",
    "codertimo/BERT-pytorch, issue 29 (o código citado na pergunta)",
)
def corrupt_by_a_share_of_the_draw(
    ids, selected, vocabulary, channel=BERT_CHANNEL, *, generator, **options
) -> Corrupted:
    """The draw is compared with a share of itself: u < 0.8 u is never true, and no word is ever replaced."""
    u = torch.rand(ids.shape, generator=generator)
    word = _any_word(ids, vocabulary, generator)
    kept_from = 1 - channel.keep
    noisy = torch.where(u < u * channel.mask, vocabulary.mask_id, torch.where(u < u * kept_from, word, ids))
    return Corrupted(torch.where(selected, noisy, ids), torch.where(selected, ids, IGNORE_INDEX))


@defect("sorteio com reposição", "lib.corruption.select_tokens", "facebookresearch/fairseq, pull request 752")
def select_with_replacement(
    maskable: Tensor, rate: float = 0.15, *, generator: torch.Generator, selection: str = "exact"
) -> Tensor:
    """Draws as many positions as the rate asks for, and may draw one of them twice."""
    selected = torch.zeros_like(maskable)
    for row, allowed in zip(selected, maskable, strict=True):
        places = allowed.nonzero().squeeze(-1)
        if len(places):
            draws = max(1, round(rate * len(places)))
            row[places[torch.randint(len(places), (draws,), generator=generator)]] = True
    return selected


@defect("especiais mascarados", "lib.corruption.mask_tokens", "huggingface/transformers, issues 1395 e 11155")
def mask_any_token(ids, vocabulary, *, generator, rate=0.15, channel=BERT_CHANNEL, selection="bernoulli"):
    """Forgets that [CLS], [SEP] and [PAD] are not words."""
    selected = select_tokens(torch.ones_like(ids, dtype=torch.bool), rate, generator=generator)
    masked = torch.where(selected, vocabulary.mask_id, ids)
    return Corrupted(masked, torch.where(selected, ids, IGNORE_INDEX))


@defect(
    "rótulos esquecidos", "lib.corruption.corrupt", "huggingface/transformers, issue 20797 (em um comentário)"
)
def corrupt_and_forget_the_labels(ids, selected, vocabulary, *rest, **options) -> Corrupted:
    """The labels of the selected are built, and the batch leaves with the whole sentence as labels."""
    noisy, _labels = corrupt(ids, selected, vocabulary, *rest, **options)
    return Corrupted(noisy, ids)


@defect("vizinha de mentira", "lib.pairs.next_sentence_pairs", "NVIDIA/DeepLearningExamples, issue 421")
def pairs_from_any_document(documents, *, generator, next_rate=0.5) -> list[SentencePair]:
    """The sentence that should be from another document may be from the same one, the true next included."""
    pairs = []
    for document in documents:
        for a, b in pairwise(document):
            label = IS_NEXT if torch.rand((), generator=generator) < next_rate else NOT_NEXT
            if label == NOT_NEXT:
                anywhere = documents[int(torch.randint(len(documents), (), generator=generator))]
                b = anywhere[int(torch.randint(len(anywhere), (), generator=generator))]
            pairs.append(SentencePair(list(a), list(b), label))
    return pairs


# Losses


@defect("softmax em dobro", "lib.losses.cross_entropy", "ariecattan/SciCo, issue 2")
def cross_entropy_of_probabilities(
    logits: Tensor, labels: Tensor, ignore_index: int = IGNORE_INDEX
) -> Tensor:
    """Probabilities where logits belong: the softmax is taken twice."""
    return cross_entropy(logits.softmax(-1), labels, ignore_index)


@defect("prova com consulta", "lib.losses.pseudo_perplexity", "huggingface/transformers, pull request 1633")
def perplexity_without_masking(logits_fn, ids, mask_id, scored=None, *, batch_size=64) -> float:
    """The model reads the sentence that it has to guess."""
    labels = ids if scored is None else ids.masked_fill(~scored, IGNORE_INDEX)
    return perplexity(cross_entropy(logits_fn(ids), labels).item())


@defect("passo maior que a perna", "lib.heads.CausalLM.loss", "huggingface/transformers, pull request 46898")
def loss_shifted_twice(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
    """`CausalLM.loss` for labels that the caller had already shifted: position t answers for t + 2."""
    labels = ids if mask is None else ids.masked_fill(~mask, IGNORE_INDEX)
    return cross_entropy(self(ids, mask)[:, :-2], labels[:, 2:])


@defect("média de médias", "lib.training.loop.evaluate", "huggingface/transformers, issue 24725")
@torch.no_grad()
def mean_of_batch_means(objective, held_out, *world) -> dict[str, float]:
    """Every batch weighs the same, however few predictions it holds."""
    means = [objective(batch).double() / objective.counts(batch) for batch in held_out.batches]
    return dict(zip(objective.terms, torch.stack(means).mean(0).tolist(), strict=True))
