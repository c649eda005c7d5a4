"""Finished models on disk, for use: what a chapter, a widget or a fine-tuning loads.

A folder with `config.json` (objective, architecture, vocabulary) and `model.safetensors`, in float32 or, at
half the size, float16.
"""

import json
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import load_file, save

from lib.encoder import Config
from lib.files import write_atomically
from lib.training.objectives import OBJECTIVES, Objective
from lib.vocabulary import Vocabulary


def save_model(
    folder: str | Path, objective: Objective, vocabulary: Vocabulary, dtype: torch.dtype = torch.float32
) -> Path:
    """Write the model of an objective, with its heads and its vocabulary."""
    name = next(name for name, kind in OBJECTIVES.items() if type(objective) is kind)
    config = objective.model.encoder.config
    if len(vocabulary) != config.vocab_size:
        raise ValueError(f"vocabulary must hold {config.vocab_size} tokens, got {len(vocabulary)}")
    settings = {"objective": name, "config": asdict(config), "words": list(vocabulary)}
    tensors = {key: t.detach().to(dtype).contiguous() for key, t in objective.state_dict().items()}
    write_atomically(Path(folder) / "model.safetensors", save(tensors))
    write_atomically(Path(folder) / "config.json", json.dumps(settings, ensure_ascii=False, indent=1))
    return Path(folder)


def load_model(folder: str | Path) -> tuple[Objective, Vocabulary]:
    """A model that `save_model` wrote, in float32 and evaluation mode, and its vocabulary."""
    path = Path(folder) / "config.json"
    if not path.is_file():
        raise FileNotFoundError(f"{folder} holds no config.json: it is not the folder of a saved model")
    settings = json.loads(path.read_text(encoding="utf-8"))
    if settings.get("objective") not in OBJECTIVES:
        raise ValueError(f"{path} names no objective among {list(OBJECTIVES)}: {settings.get('objective')!r}")
    objective = OBJECTIVES[settings["objective"]](Config(**settings["config"]))
    tensors = load_file(Path(folder) / "model.safetensors")
    objective.load_state_dict({name: t.float() for name, t in tensors.items()})
    return objective.eval(), Vocabulary(settings["words"])
