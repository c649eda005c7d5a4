"""What happens when a causal model reads its own words: generation, and how long it stays possible.

With teacher forcing each prediction is made from the true words. In use there are none: the model reads what
it wrote, and a mistake stays in the context. The grammar of the course can tell, exactly, when the words
written so far have become impossible, and which words never stand side by side.
"""

import torch
from torch import Tensor

from lib.corpus import Grammar, next_word, sample
from lib.generation import generate
from lib.heads import CausalLM
from lib.vocabulary import CLS, PAD, SEP, SPECIAL_TOKENS


def write(model: CausalLM, rows: int, longest: int, generator: torch.Generator) -> Tensor:
    """`rows` sentences sampled word by word from [CLS], (rows, longest): words, then [SEP], then padding."""
    start = torch.full((rows, 1), CLS)
    never = [i for i in range(len(SPECIAL_TOKENS)) if i != SEP]  # of these only the end is written
    ids = generate(model, start, longest, temperature=1.0, generator=generator, never=never, end=SEP)
    return ids[:, 1:]


def possible_so_far(grammar: Grammar, written: Tensor) -> Tensor:
    """(rows, longest): True while the words up to there, [SEP] included, can begin a sentence of `grammar`.

    After the end of a possible sentence it stays True; after the first impossible word it stays False.
    """
    # The first word has one distribution, whatever follows it: any sentence shows it.
    first = next_word(grammar, sample(grammar, 1).ids)[0, 0]  # (V,)
    alive = first[written[:, 0]] > 0
    history = [alive]
    for t in range(1, written.shape[1]):
        alive = alive.clone()
        going = (alive & (written[:, t] != PAD)).nonzero().squeeze(-1)
        if len(going):
            words = written[going]
            p = next_word(grammar, words[:, :t])[:, t]  # (b, V)
            alive[going] = p.gather(-1, words[:, t : t + 1]).squeeze(-1) > 0
        history.append(alive)
    return torch.stack(history, 1)


def can_follow(grammar: Grammar) -> Tensor:
    """(V, V): True where, in some sentence of `grammar`, the column's word stands right after the row's.

    In the column of [SEP] are the words that can be the last.
    """
    nodes, emits = len(grammar.node_end), grammar.emission > 0  # (C, V)
    before, after = torch.zeros(2, nodes, len(grammar))
    before.index_add_(0, grammar.arc_target, emits[grammar.arc_class].float())
    after.index_add_(0, grammar.arc_source, emits[grammar.arc_class].float())
    after[:, SEP] = (grammar.node_end > 0).float()
    return before.T @ after > 0


@torch.no_grad()
def impossible_mass(model: CausalLM, grammar: Grammar, sentences: Tensor) -> Tensor:
    """The probability that `model` gives to impossible next words, at each position with a true left context.

    `sentences` is (B, N), rows of words padded with [PAD]; the result is a vector over their positions,
    end of the sentence included.
    """
    p = _next_words(model, sentences)  # (B, N+1, V)
    exact = next_word(grammar, sentences)  # (B, N+1, V)
    lengths = (sentences != PAD).sum(1)
    real = torch.arange(p.shape[1])[None, :] <= lengths[:, None]  # (B, N+1)
    return (p * (exact == 0)).sum(-1)[real]


@torch.no_grad()
def exposure(model: CausalLM, grammar: Grammar, truth: Tensor, written: Tensor) -> tuple[Tensor, Tensor]:
    """The mean error in contexts that `model` itself made impossible, and in true ones that end as they do.

    No continuation of an impossible context is right, so the error is one that every context has: the
    probability of the words that never stand right after the last one read, in any sentence of `grammar`.
    Each spoilt context is held against the mean of the true contexts that end in its last word; the two
    differ in what was read before it. A last word that `truth` lacks is left out.
    """
    never = ~can_follow(grammar)
    own, true = ((_next_words(model, rows)[:, 1:] * never[rows]).sum(-1) for rows in (written, truth))
    spoilt = ~possible_so_far(grammar, written) & (written != PAD) & (written != SEP)
    words, last = truth[truth != PAD], written[spoilt]
    count = words.bincount(minlength=len(grammar))
    mean = words.bincount(true[truth != PAD], minlength=len(grammar)) / count  # (V,), nan where there is none
    paired = count[last] > 0
    return own[spoilt][paired].mean(), mean[last[paired]].mean()


def _next_words(model: CausalLM, sentences: Tensor) -> Tensor:
    """What `model` expects next at [CLS] and after each word, (B, N+1, V)."""
    first = torch.full((len(sentences), 1), CLS)
    return model(torch.cat([first, sentences], 1)).softmax(-1)
