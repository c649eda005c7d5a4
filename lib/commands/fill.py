"""`python -m lib preencher "a [MASK] madura" --modelo PASTA`: the likeliest words for every gap."""

from collections.abc import Sequence

import torch

from lib.commands.console import Parser, Refusal, whole
from lib.commands.models import OPTION, Opened, open_model
from lib.heads import MaskedLM

OPTIONS = {
    "opções": (
        ("FRASE", "words", str, "+", 'a frase, com [MASK] em cada lacuna, entre aspas: "a [MASK] madura"'),
        OPTION,
        ("--palavras N", "top", whole(1), 5, "quantas palavras mostrar por lacuna"),
    )
}
MASK = "[MASK]"


def main(arguments: Sequence[str]) -> int:
    parser = Parser("preencher", "Diz que palavras um modelo poria em cada [MASK] de uma frase.", OPTIONS)
    options = parser.parse_args(arguments)
    sentence = " ".join(options.words)
    if MASK not in sentence:
        raise Refusal(f'a frase não tem {MASK}: escreva-o onde falta a palavra, como em "a {MASK} madura".')
    opened = open_model(options.model)
    opened.require(MaskedLM, "preenche lacunas")
    for number, gap in enumerate(gaps(opened, sentence, options.top), 1):
        print(f"lacuna {number}:" if sentence.count(MASK) > 1 else sentence)
        for word, probability in gap:
            print(f"  {word:<20} {probability:.4f}")
    return 0


@torch.no_grad()
def gaps(opened: Opened, sentence: str, top: int) -> list[list[tuple[str, float]]]:
    """For each gap, the likeliest tokens with their probabilities, each gap by itself."""
    vocabulary = opened.tokenizer.vocabulary
    sentence = sentence.replace(MASK, vocabulary[vocabulary.mask_id])  # RoBERTa writes <mask>
    ids = torch.tensor([opened.tokenizer.encode(sentence).ids])  # (1, N)
    if ids.shape[1] > (longest := opened.config.max_length):
        told = f"{ids.shape[1]} tokens, e o modelo lê até {longest}"
        raise Refusal(f"a frase é longa demais: tem {told}.")
    assert isinstance(opened.model, MaskedLM)
    logits = opened.model(ids)[0, ids[0] == vocabulary.mask_id]  # (gaps, V)
    logits[:, list(vocabulary.special_ids)] = -torch.inf
    best = logits.softmax(-1).topk(min(top, len(vocabulary.ordinary_ids)))
    return [
        [(vocabulary[i], p) for i, p in zip(row.tolist(), shares.tolist(), strict=True)]
        for row, shares in zip(best.indices, best.values, strict=True)
    ]
