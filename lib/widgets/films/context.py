"""Chapter 5: the vectors of one word, layer by layer, part towards the other occurrences of their sense."""

import torch
from torch import Tensor

from lib.numbers import pt
from lib.widgets.film import Film, Frame, Item
from lib.widgets.sense_space import WORDS, layer_count, shown

MARKS = ("●", "▲")
SIDE, TOP = 10.0, 0.0  # the plane is as many rows high as columns wide


def context_film(word: int = 0) -> Film:
    """Each occurrence of WORDS[word] at its mean cosine to the others of each sense, in every layer."""
    each = WORDS[word]
    labels = torch.tensor(each.labels)
    layers = [shown(word, layer, "cru") for layer in range(layer_count())]
    places = [towards(layer.cosines, labels) for layer in layers]  # (M, 2) of each layer
    least = torch.stack(places).min().item()
    low = int(10 * least) / 10 if least >= 0 else -1.0
    frames = []
    for k, (layer, place) in enumerate(zip(layers, places, strict=True)):
        same, across, neighbours = layer.separation
        start = "Os embeddings" if k == 0 else f"Depois do bloco {k}"
        says = (
            f"{start}: cosseno médio {pt(same, 2)} entre as de mesmo sentido, "
            f"{pt(across, 2)} entre as outras. "
            f"O vizinho mais próximo tem o mesmo sentido em {neighbours} de {len(labels)}."
        )
        frames.append(Frame(says, ({} if k else _axes(each.senses, low)) | _dots(place, each.labels, low)))
    return Film(
        f"Oito vezes “{each.text}”, bloco a bloco",
        "Antes de tocar: oito pontos quase juntos no começo. Depois de que bloco os sentidos se separam?",
        *(SIDE, SIDE + 1.2),
        frames,
    )


def towards(cosines: Tensor, labels: Tensor) -> Tensor:
    """(M, 2): the mean cosine of each occurrence to the others of the first sense, and of the second."""
    others = ~torch.eye(len(labels), dtype=torch.bool)
    means = []
    for sense in (0, 1):
        wanted = others & (labels == sense)[None, :]  # (M, M)
        means.append((cosines * wanted).sum(-1) / wanted.sum(-1))
    return torch.stack(means, -1)


def _axes(senses: tuple[str, str], low: float) -> dict[str, Item]:
    return {
        "plane": Item(0, TOP, SIDE, "", "plane", SIDE),
        "up": Item(0.15, TOP + 0.1, 6, f"{MARKS[1]} ↑ mais parecido com as de “{senses[1]}”"),
        "right": Item(
            0.15, SIDE + 0.1, SIDE, f"{MARKS[0]} → mais parecido com as de “{senses[0]}” ({pt(low, 1)} a 1)"
        ),
    }


def _dots(place: Tensor, labels: list[int], low: float) -> dict[str, Item]:
    share = ((place - low) / (1 - low)).tolist()
    return {
        f"dot {i}": Item(SIDE * x - 0.5, TOP + SIDE * (1 - y) - 0.5, 1, MARKS[labels[i]], "dot")
        for i, (x, y) in enumerate(share)
    }
