"""The files of a checkpoint: settings and tensors, read without executing anything, each refusal by name.

Tensors are in one file or in shards that an index lists, as `.safetensors`, which holds numbers only, or as
`.bin`, which is read with `weights_only=True` and refused if there is code inside. Nothing is downloaded.
"""

import json
from collections.abc import Callable
from pathlib import Path
from pickle import UnpicklingError

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

SAFE, PICKLED, CONFIG = "model.safetensors", "pytorch_model.bin", "config.json"
# Other files that hold weights, and what makes one of them into one that is read here.
FOREIGN = {
    "*.safetensors": f"rename it to {SAFE}",
    "*.bin": f"rename it to {PICKLED}",
    "*.h5": "open it in transformers with from_tf=True and save it again with save_pretrained",
    "*.msgpack": "open it in transformers with from_flax=True and save it again with save_pretrained",
}


class NotTensors(ValueError, UnpicklingError):
    """A pickle that would do more than give back numbers."""


def read_config(folder: str | Path) -> dict:
    """The settings in `config.json`."""
    path = Path(folder) / CONFIG
    if not path.is_file():
        raise FileNotFoundError(f"{folder} holds no {CONFIG}: it is not the folder of a checkpoint")
    return read_object(path)


def read_object(path: Path) -> dict:
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:  # of the file, of UTF-8, or of JSON
        raise ValueError(f"{path} is not a JSON file that can be read: {error}") from None
    if not isinstance(settings, dict):
        raise ValueError(f"{path} must hold an object of settings, got {settings!r:.50}")
    return settings


def read_tensors(folder: str | Path) -> dict[str, Tensor]:
    """The tensors of a checkpoint, in one file or in several."""
    folder = Path(folder)
    for name, read in {SAFE: read_safe, PICKLED: read_pickled}.items():
        if (folder / name).is_file():
            return read(folder / name)
        if (index := folder / f"{name}.index.json").is_file():
            return read_shards(index, read)
    for pattern, advice in FOREIGN.items():
        if found := sorted(folder.glob(pattern)):
            raise FileNotFoundError(
                f"{folder} holds neither {SAFE} nor {PICKLED}, but {found[0].name}: {advice}"
            )
    raise FileNotFoundError(f"{folder} holds neither {SAFE} nor {PICKLED}, whole or with an index of shards")


def read_shards(index: Path, read: Callable[[Path], dict[str, Tensor]]) -> dict[str, Tensor]:
    """The tensors that an index names, from the files beside it that it names."""
    where = read_object(index).get("weight_map")
    if not isinstance(where, dict) or not where or not all(isinstance(name, str) for name in where.values()):
        raise ValueError(
            f"{index} must hold a weight_map from the names of tensors to files, and it does not"
        )
    shards = sorted(set(where.values()))
    if odd := [name for name in shards if Path(name).name != name or name in ("", ".", "..")]:
        raise ValueError(f"{index} must name files of its own folder, got {odd[0]!r}")
    if missing := [name for name in shards if not (index.parent / name).is_file()]:
        raise FileNotFoundError(f"{index} names {missing[0]}, and {index.parent} holds no such file")
    tensors = {name: tensor for shard in shards for name, tensor in read(index.parent / shard).items()}
    if lost := sorted(where.keys() - tensors.keys()):
        raise ValueError(f"{index} names {lost[0]}, and {where[lost[0]]} does not hold it")
    return tensors


def read_safe(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except (SafetensorError, OSError, KeyError, ValueError) as error:  # KeyError: a dtype torch does not have
        raise ValueError(f"{path} is damaged, or not a safetensors file: {error}") from None


def read_pickled(path: Path) -> dict[str, Tensor]:
    try:
        tensors = torch.load(path, map_location="cpu", weights_only=True)
    except UnpicklingError as error:
        told = str(error).partition("\n")[0]
        raise NotTensors(f"{path} was refused, it is damaged or holds more than tensors: {told}") from None
    except (EOFError, IndexError, KeyError, OSError, RuntimeError, ValueError) as error:
        told = str(error).partition("\n")[0]
        raise ValueError(f"{path} is damaged, or not a file of torch.save: {told}") from None
    if not isinstance(tensors, dict) or not all(isinstance(tensor, Tensor) for tensor in tensors.values()):
        raise ValueError(
            f"{path} must hold a dictionary of tensors, a state_dict, and it holds something else"
        )
    return tensors
