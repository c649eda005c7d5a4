"""`python -m lib exportar --modelo PASTA --saida PASTA`: a copy for others, checked by opening it again."""

from collections.abc import Sequence
from pathlib import Path
from shutil import disk_usage

import torch

from lib.commands.console import HALF, REQUIRED, Parser, Refusal
from lib.commands.models import OPTION, Opened, open_model
from lib.weights import save

OUT = ("--saida PASTA", "out", Path, REQUIRED, "pasta a criar")
OPTIONS = {"opções": (OPTION, OUT, HALF)}


def main(arguments: Sequence[str]) -> int:
    parser = Parser(
        "exportar",
        "Copia um modelo para uma pasta que transformers abre (config.json, model.safetensors, "
        "tokenizer.json), de qualquer formato que o curso lê, e confere a cópia. O que treinar e ajustar "
        "gravam já é assim; exporte para mudar a precisão, juntar partes ou atualizar um formato antigo.",
        OPTIONS,
    )
    options = parser.parse_args(arguments)
    require_new(options.out)
    opened = open_model(options.model)
    require_room(options.out, opened, options.half)
    save(options.out, opened.model, opened.tokenizer, torch.float16 if options.half else torch.float32)
    copy, original = open_model(options.out).model.state_dict(), opened.model.state_dict()
    off = max(float((copy[name] - tensor).abs().max()) for name, tensor in original.items())
    size = sum(file.stat().st_size for file in options.out.iterdir()) / 2**20
    told = "pesos idênticos" if off == 0 else f"pesos a no máximo {off:.1e} dos originais"
    print(f"Pronto: a cópia está em {options.out}, {size:.1f} MB; aberta de novo, {told}.")
    return 0


def require_new(folder: Path) -> None:
    """Refuse to write over what is there."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Refusal(f"{folder} já existe e não está vazia: escolha outra pasta com --saida.")


def require_room(folder: Path, opened: Opened, half: bool) -> None:
    """Refuse a disk on which a model as large as this one does not fit: now, and not after a training."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.is_dir())
    needed = sum(weights.numel() for weights in opened.model.parameters()) * (2 if half else 4)
    if (free := disk_usage(there).free) < needed:
        room = f"há {free / 2**20:.1f} MB livres, e o modelo ocupa {needed / 2**20:.1f}"
        raise Refusal(f"no disco de {folder} {room}: libere espaço, ou escolha outra pasta com --saida.")
