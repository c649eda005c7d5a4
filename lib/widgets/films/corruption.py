"""Chapter 2: selected words fall into three bins, one by one, and in the long run 80, 10 and 10 of 100."""

import torch
from torch import Tensor

from lib.corpus import PORTUGUESE, sample
from lib.corruption import BERT_CHANNEL, mask_tokens
from lib.losses import IGNORE_INDEX
from lib.numbers import pt
from lib.widgets.film import Film, Frame, Item

FATES = {"masked": "[MASK]", "swapped": "outra", "same": "igual"}
TOLD = {"masked": "viram [MASK]", "swapped": "viram outra palavra", "same": "ficam como estão"}
PLACES = {"masked": (0.0, 6.0), "swapped": (6.1, 2.0), "same": (8.2, 2.0)}  # where a bin stands, and how wide
COLUMNS, ACROSS = 10.2, 5  # five words in a row of the tray, each two columns wide
FLOOR = 9.2  # the row on which the bins stand


def corruption_film(sentences: int = 2000, falling: int = 15, seed: int = 0, rate: float = 0.15) -> Film:
    """The first `falling` selected words of the grammar's sentences fall one by one; then all are counted."""
    clean = sample(PORTUGUESE, sentences, seed).ids  # (B, N)
    generator = torch.Generator().manual_seed(seed)
    noisy, labels = mask_tokens(clean, PORTUGUESE.vocabulary, rate=rate, generator=generator)
    selected = labels != IGNORE_INDEX  # (B, N)
    pairs = list(zip(labels[selected].tolist(), noisy[selected].tolist(), strict=True))
    fates = [_fate(*pair) for pair in pairs]
    words = int(PORTUGUESE.vocabulary.is_ordinary(clean).sum())
    named = [(PORTUGUESE.vocabulary[was], PORTUGUESE.vocabulary[seen]) for was, seen in pairs[:falling]]
    tray = {f"word {k}": _waiting(k, was) for k, (was, _) in enumerate(named)}
    start = f"Estas {falling} palavras foram selecionadas. O canal decide o destino de cada uma."
    frames = [Frame(start, tray | _bins() | _heads(fates[:0]))]
    for k, (was, seen) in enumerate(named):
        items = {f"word {k}": _fallen(fates[: k + 1], seen)} | _heads(fates[: k + 1])
        frames.append(Frame(_says(was, seen, fates[k]), items))
    shares = {fate: fates.count(fate) / len(fates) for fate in FATES}
    frames.append(
        Frame(
            f"Em {sentences} frases, {len(fates)} de {words} palavras foram selecionadas "
            f"({pt(100 * len(fates) / words, 1)}%). Destas, {_listed(shares)}.",
            _heads(fates, shares),
        )
    )
    return Film(
        "Oitenta, dez, dez",
        f"Antes de tocar: destas {falling} palavras, quantas você espera em cada caixa?",
        *(COLUMNS, FLOOR + 2),
        frames,
    )


def expected() -> dict[str, float]:
    """The probability of each fate: a word that is drawn at random may be the same again."""
    vocabulary = PORTUGUESE.vocabulary
    word = vocabulary.ordinary_ids[0]
    seen: Tensor = BERT_CHANNEL.likelihood(torch.arange(len(vocabulary)), word, vocabulary)  # (V,)
    masked, same = seen[vocabulary.mask_id].item(), seen[word].item()
    return {"masked": masked, "swapped": 1 - masked - same, "same": same}


def _fate(was: int, seen: int) -> str:
    if seen == PORTUGUESE.vocabulary.mask_id:
        return "masked"
    return "same" if seen == was else "swapped"


def _says(was: str, seen: str, fate: str) -> str:
    if fate == "masked":
        return f"“{was}” vira [MASK]."
    return f"“{was}” fica como está." if fate == "same" else f"“{was}” vira “{seen}”."


def _listed(shares: dict[str, float]) -> str:
    told = [f"{pt(100 * shares[fate], 1)}% {name}" for fate, name in TOLD.items()]
    wanted = "; ".join(f"{pt(100 * share, 1)}%" for share in expected().values())
    return f"{'; '.join(told)}. O esperado: {wanted}"


def _waiting(k: int, word: str) -> Item:
    row, column = divmod(k, ACROSS)
    return Item(column * COLUMNS / ACROSS, row, COLUMNS / ACROSS - 0.1, word, "selected")


def _fallen(fates: list[str], seen: str) -> Item:
    """The last word, on top of those that fell into its bin before it."""
    fate = fates[-1]
    left, width = PLACES[fate]
    across = round(width / 2)
    row, column = divmod(fates.count(fate) - 1, across)
    size = width / across
    return Item(left + column * size + 0.05, FLOOR - 1.15 - row, size - 0.1, seen, fate)


def _bins() -> dict[str, Item]:
    return {f"bin {fate}": Item(x, 3.4, width, "", "bin", FLOOR - 3.4) for fate, (x, width) in PLACES.items()}


def _heads(fates: list[str], shares: dict[str, float] | None = None) -> dict[str, Item]:
    """Below each bin, its name, and how many fell into it, or what share."""
    items = {}
    for fate, (x, width) in PLACES.items():
        count = str(fates.count(fate)) if shares is None else f"{pt(100 * shares[fate], 1)}%"
        items[f"name {fate}"] = Item(x, FLOOR, width, FATES[fate], "head")
        items[f"count {fate}"] = Item(x, FLOOR + 1, width, count, "head")
    return items
