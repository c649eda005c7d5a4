"""What happens when a causal model reads its own words: generation, and how long it stays possible.

With teacher forcing each prediction is made from the true words. In use there are none: the model reads what
it wrote, and a mistake stays in the context. The grammar of the course can tell, exactly, when the words
written so far have become impossible.
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


@torch.no_grad()
def impossible_mass(model: CausalLM, grammar: Grammar, sentences: Tensor) -> Tensor:
    """The probability that `model` gives to impossible next words, at each position with a true left context.

    `sentences` is (B, N), rows of words padded with [PAD]; the result is a vector over their positions,
    end of the sentence included.
    """
    first = torch.full((len(sentences), 1), CLS)
    p = model(torch.cat([first, sentences], 1)).softmax(-1)  # (B, N+1, V)
    exact = next_word(grammar, sentences)  # (B, N+1, V)
    lengths = (sentences != PAD).sum(1)
    real = torch.arange(p.shape[1])[None, :] <= lengths[:, None]  # (B, N+1)
    return (p * (exact == 0)).sum(-1)[real]
