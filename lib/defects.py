"""Mistakes that public courses and libraries really made, each small enough to run beside the right code.

A broken function has the signature of the one in `lib` that it imitates, so that it can take its place: the
museum of defects shows what it does to the numbers, and a test puts it into the course and requires that the
check named here fails. `CATALOGUE` says what each imitates, where it was found and what catches it. Nothing
else should use this module.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from lib.attention import attention, causal_mask
from lib.corruption import BERT_CHANNEL, IS_NEXT, NOT_NEXT, Corrupted, SentencePair, corrupt, select_tokens
from lib.losses import IGNORE_INDEX, cross_entropy, perplexity

# Attention


def inverted_causal_mask(n: int) -> Tensor:
    """True at the future: right for a library where True hides, wrong for one where True allows."""
    return ~causal_mask(n)


def attention_over_queries(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None):
    """The softmax runs down the columns: each key, not each query, shares out a weight of one."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (..., N_q, N_k)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores, -2).nan_to_num(0.0)
    return weights @ v, weights


def attention_scaled_by_model(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, heads: int = 12):
    """Divides by the root of d, the size of the model, instead of d_k = d / heads, the size of a head."""
    return attention(q, k, v, mask, scale=1 / math.sqrt(heads * q.shape[-1]))


def softmax_of_anything(scores: Tensor, dim: int = -1) -> Tensor:
    """No answer for a row that is hidden whole: 0/0, which spreads."""
    return torch.softmax(scores, dim)


# Corruption


def corrupt_with_two_draws(
    ids, selected, alphabet, channel=BERT_CHANNEL, *, generator, **options
) -> Corrupted:
    """First the random words; then, among what is left, the words to keep. What is left again is masked."""
    is_random = torch.rand(ids.shape, generator=generator) < channel.random
    is_kept = torch.rand(ids.shape, generator=generator) < channel.keep
    word = alphabet.words[torch.randint(len(alphabet.words), ids.shape, generator=generator)].to(ids.dtype)
    noisy = torch.where(is_random, word, torch.where(is_kept, ids, alphabet.mask_id))
    return Corrupted(torch.where(selected, noisy, ids), torch.where(selected, ids, IGNORE_INDEX))


def corrupt_by_a_share_of_the_draw(
    ids, selected, alphabet, channel=BERT_CHANNEL, *, generator, **options
) -> Corrupted:
    """The draw is compared with a share of itself: u < 0.8 u is never true, and no word is ever replaced."""
    u = torch.rand(ids.shape, generator=generator)
    word = alphabet.words[torch.randint(len(alphabet.words), ids.shape, generator=generator)].to(ids.dtype)
    kept_from = 1 - channel.keep
    noisy = torch.where(u < u * channel.mask, alphabet.mask_id, torch.where(u < u * kept_from, word, ids))
    return Corrupted(torch.where(selected, noisy, ids), torch.where(selected, ids, IGNORE_INDEX))


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


def mask_any_token(ids, alphabet, *, generator, rate=0.15, channel=BERT_CHANNEL, selection="bernoulli"):
    """Forgets that [CLS], [SEP] and [PAD] are not words."""
    selected = select_tokens(torch.ones_like(ids, dtype=torch.bool), rate, generator=generator)
    masked = torch.where(selected, alphabet.mask_id, ids)
    return Corrupted(masked, torch.where(selected, ids, IGNORE_INDEX))


def corrupt_and_forget_the_labels(ids, selected, alphabet, *rest, **options) -> Corrupted:
    """The labels of the selected are built, and the batch leaves with the whole sentence as labels."""
    noisy, _labels = corrupt(ids, selected, alphabet, *rest, **options)
    return Corrupted(noisy, ids)


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


def cross_entropy_of_probabilities(
    logits: Tensor, labels: Tensor, ignore_index: int = IGNORE_INDEX
) -> Tensor:
    """Probabilities where logits belong: the softmax is taken twice."""
    return cross_entropy(logits.softmax(-1), labels, ignore_index)


def perplexity_without_masking(logits_fn, ids, mask_id, scored=None, *, batch_size=64) -> float:
    """The model reads the sentence that it has to guess."""
    labels = ids if scored is None else ids.masked_fill(~scored, IGNORE_INDEX)
    return perplexity(cross_entropy(logits_fn(ids), labels).item())


def loss_shifted_twice(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
    """`CausalLM.loss` for labels that the caller had already shifted: position t answers for t + 2."""
    labels = ids if mask is None else ids.masked_fill(~mask, IGNORE_INDEX)
    return cross_entropy(self(ids, mask)[:, :-2], labels[:, 2:])


@torch.no_grad()
def mean_of_batch_means(objective, held_out, *world) -> dict[str, float]:
    """Every batch weighs the same, however few predictions it holds."""
    means = [objective(batch).double() / objective.counts(batch) for batch in held_out.batches]
    return dict(zip(objective.terms, torch.stack(means).mean(0).tolist(), strict=True))


@dataclass(frozen=True)
class Defect:
    """Where `broken` was found, what of `lib` it imitates ("module.name") and the check that catches it."""

    broken: Callable
    imitates: str
    found: str
    check: str

    @property
    def card(self) -> str:
        """What the museum prints under an exhibit."""
        file, test = self.check.split("::")
        return f"encontrado em: {self.found}\nquem o pega:   {file}\n    {test}"


CATALOGUE = {
    "máscara invertida": Defect(
        inverted_causal_mask,
        "lib.attention.causal_mask",
        "rasbt/LLMs-from-scratch, issue 1061",
        "tests/test_attention.py::test_causal_mask_equals_the_definition_by_loops",
    ),
    "eixo trocado": Defect(
        attention_over_queries,
        "lib.attention.attention",
        "labmlai/annotated_deep_learning_paper_implementations, issue 146",
        "tests/test_attention.py::test_readable_and_fused_attention_agree_with_gradients",
    ),
    "raiz errada": Defect(
        attention_scaled_by_model,
        "lib.attention.attention",
        "aladdinpersson/Machine-Learning-Collection, issue 65",
        "tests/test_attention.py::test_readable_and_fused_attention_agree_with_gradients",
    ),
    "linha vazia": Defect(
        softmax_of_anything,
        "lib.attention.softmax",
        "pytorch/pytorch, issue 103963",
        "tests/test_attention.py::test_a_row_of_only_minus_infinity_gives_zeros_and_a_zero_gradient",
    ),
    "dois sorteios": Defect(
        corrupt_with_two_draws,
        "lib.corruption.corrupt",
        "lucidrains/mlm-pytorch, issue 6",
        "tests/test_corruption.py::test_shares_are_those_of_the_channel",
    ),
    "sorteio contra si mesmo": Defect(
        corrupt_by_a_share_of_the_draw,
        "lib.corruption.corrupt",
        "codertimo/BERT-pytorch, issue 29 (o código citado na pergunta)",
        "tests/test_corruption.py::test_shares_are_those_of_the_channel",
    ),
    "sorteio com reposição": Defect(
        select_with_replacement,
        "lib.corruption.select_tokens",
        "facebookresearch/fairseq, pull request 752",
        "tests/test_corruption.py::test_exact_selects_round_of_rate_times_n_in_each_row",
    ),
    "especiais mascarados": Defect(
        mask_any_token,
        "lib.corruption.mask_tokens",
        "huggingface/transformers, issues 1395 e 11155",
        "tests/test_corruption.py::test_padding_is_never_selected_even_at_rate_one",
    ),
    "rótulos esquecidos": Defect(
        corrupt_and_forget_the_labels,
        "lib.corruption.corrupt",
        "huggingface/transformers, issue 20797 (em um comentário)",
        "tests/test_corruption.py::test_padding_is_never_selected_even_at_rate_one",
    ),
    "prova com consulta": Defect(
        perplexity_without_masking,
        "lib.losses.pseudo_perplexity",
        "huggingface/transformers, pull request 1633",
        "tests/test_losses.py::test_pseudo_perplexity_without_masking_would_be_nearly_one",
    ),
    "softmax em dobro": Defect(
        cross_entropy_of_probabilities,
        "lib.losses.cross_entropy",
        "ariecattan/SciCo, issue 2",
        "tests/test_losses.py::test_value_and_gradient_equal_torch",
    ),
    "passo maior que a perna": Defect(
        loss_shifted_twice,
        "lib.heads.CausalLM.loss",
        "huggingface/transformers, pull request 46898",
        "tests/test_heads.py::test_a_causal_model_predicts_the_next_token_only",
    ),
    "média de médias": Defect(
        mean_of_batch_means,
        "lib.training.loop.evaluate",
        "huggingface/transformers, issue 24725",
        "tests/test_defects.py::test_every_prediction_weighs_the_same_in_an_evaluation",
    ),
    "vizinha de mentira": Defect(
        pairs_from_any_document,
        "lib.corruption.next_sentence_pairs",
        "NVIDIA/DeepLearningExamples, issue 421",
        "tests/test_corruption.py::test_half_of_the_pairs_are_true_and_the_labels_are_berts",
    ),
}
