"""A model of ours as a folder that transformers opens, and that `load` opens again.

    Encoder     BertModel                FineTuned   BertForSequenceClassification, ...TokenClassification
    MaskedLM    BertForMaskedLM                      or ...QuestionAnswering, after its head
    PairsLM     BertForPreTraining       CausalLM    BertModel as a decoder; the token table is its head

A pre-norm model is a RobertaPreLayerNorm there: the same blocks, and positions that count from [PAD] on. Its
table of positions is moved by as many rows, so on text that is padded on the right the numbers are the same.
"""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save as as_bytes
from torch import Tensor

from lib import checks
from lib.encoder import Config, Encoder
from lib.files import write_atomically
from lib.heads import (
    CausalLM,
    FineTuned,
    MaskedLM,
    NSPHead,
    PairHead,
    PairsLM,
    SequenceHead,
    SpanHead,
    TokenHead,
)
from lib.tokenizer import Tokenizer
from lib.weights.building import TIED, Model, require_activation
from lib.weights.files import CONFIG, SAFE
from lib.weights.names import (
    ACTIVATIONS,
    BARE,
    FAMILIES,
    HEAD_NAMES,
    MASKED,
    PAIRS,
    SEQUENCE,
    SPAN,
    TOKEN,
    translated,
)

HEADS = {SequenceHead: SEQUENCE, PairHead: SEQUENCE, NSPHead: SEQUENCE, TokenHead: TOKEN, SpanHead: SPAN}
MODELS = {Encoder: BARE, CausalLM: BARE, MaskedLM: MASKED, PairsLM: PAIRS}
TOKENIZER, TOKENIZER_CONFIG = "tokenizer.json", "tokenizer_config.json"


def save(
    folder: str | Path, model: Model, tokenizer: Tokenizer | None, dtype: torch.dtype = torch.float32
) -> Path:
    """Write `model` and its `tokenizer` into `folder`, for `load` and for transformers; returns the folder.

    `dtype` is that of the file, `torch.float16` for half the size; both libraries compute in float32.
    """
    settings, tensors = exported(model, dtype)
    config, folder = encoder_of(model).config, Path(folder)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"folder must name a folder, and {folder} is a file")
    if tokenizer is not None and checks.instance("tokenizer", tokenizer, Tokenizer).size > config.vocab_size:
        told = f"{tokenizer.size} tokens, and the model knows {config.vocab_size}"
        raise ValueError(f"tokenizer must be the one that the model was trained with; it has {told}")
    for name in (CONFIG, TOKENIZER, TOKENIZER_CONFIG):  # half-written, without the first, is no model
        (folder / name).unlink(missing_ok=True)
    write_atomically(folder / SAFE, as_bytes(tensors, {"format": "pt"}))
    if tokenizer is not None:
        write_atomically(folder / TOKENIZER, tokenizer.to_json())
        write_atomically(folder / TOKENIZER_CONFIG, _json(tokenizer_settings(tokenizer, config)))
    write_atomically(folder / CONFIG, _json(settings))
    return folder


def exported(model: Model, dtype: torch.dtype = torch.float32) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The settings of a config.json and the tensors of a `model`, under the names of transformers."""
    kind, config = kind_of(model), encoder_of(model).config
    model_type = model_type_of(config)
    family = FAMILIES[model_type]
    if kind in (MASKED, PAIRS):
        require_activation(family, config)
    names = family.names(config.layers, None if isinstance(model, Encoder) else kind)
    tensors = {}
    for ours, tensor in model.state_dict().items():
        theirs = translated(ours, names)
        under = "" if kind == BARE or theirs.startswith(HEAD_NAMES) else family.prefix
        tensor = checks.finite(tensor.detach().to(dtype), f"the numbers of {ours} in {dtype}")
        tensors[under + theirs] = (
            moved(tensor, config) if "embeddings.position" in ours else tensor.contiguous()
        )
    given = {theirs: getattr(config, ours) for ours, theirs in family.settings.items()}
    # What only BERT has a class for is a masked model elsewhere, with a layer more.
    title = family.title + (MASKED if kind == PAIRS and model_type != "bert" else kind)
    return {
        "model_type": model_type,
        "architectures": [title],
        **given,
        "max_position_embeddings": config.positions + added_positions(config),
        "attention_probs_dropout_prob": config.dropout,
        "hidden_act": next(theirs for theirs, ours in ACTIVATIONS.items() if ours == config.activation),
        "is_decoder": config.causal,
        "dtype": "float32",
        **({TIED: True} if isinstance(model, CausalLM) else {}),
        **labels_of(model),
    }, tensors


def tokenizer_settings(tokenizer: Tokenizer, config: Config) -> dict[str, Any]:
    """What a tokenizer_config.json says: read the tokenizer.json as it is, and tell the segments apart."""
    reads = ["input_ids", "token_type_ids", "attention_mask"]
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": config.max_length,
        "model_input_names": reads if config.segments > 1 else [reads[0], reads[2]],
        **tokenizer.special_names,
    }


def kind_of(model: Model) -> str:
    """The class for it in transformers, without the family's name."""
    if type(model) in MODELS:
        return MODELS[type(model)]
    if not isinstance(model, FineTuned):
        known = ", ".join(kind.__name__ for kind in (*MODELS, FineTuned))
        raise TypeError(
            f"model must be one of {known}, got {type(model).__name__}: of an objective, its .model"
        )
    if type(model.head) not in HEADS:
        raise ValueError(
            f"{type(model.head).__name__} has no place in transformers: save the encoder alone, "
            "save(folder, model.encoder, tokenizer), and keep the head's state_dict() beside it"
        )
    return HEADS[type(model.head)]


def model_type_of(config: Config) -> str:
    """Which of the families of transformers computes what this configuration asks for."""
    if not config.embedding_norm or not config.segments:
        raise ValueError(
            "config must have embedding_norm=True and segments >= 1 to be saved: every BERT of transformers "
            "has both; build the model with them"
        )
    if not config.pre_norm:
        return "roberta" if config.count_real_positions else "bert"
    if config.pad_id is None:
        raise ValueError(
            "config.pad_id must be set to save a pre-norm model: its positions count from [PAD] on"
        )
    return "roberta-prelayernorm"


def added_positions(config: Config) -> int:
    """Rows before the first position, which a pre-norm model has in transformers and may not have here."""
    if not config.pre_norm or config.count_real_positions or config.pad_id is None:
        return 0
    return config.pad_id + 1


def moved(table: Tensor, config: Config) -> Tensor:
    """The table of positions (P, d) with as many rows of zeros in front, which only padding reads."""
    return torch.cat([table.new_zeros(added_positions(config), table.shape[1]), table])


def labels_of(model: Model) -> dict[str, Any]:
    """The names of the classes, in both directions, or at least their number."""
    if not isinstance(model, FineTuned) or not isinstance(model.head, SequenceHead | TokenHead):
        return {}
    if model.labels is None:
        return {"num_labels": model.head.W.out_features}
    return {"id2label": dict(enumerate(model.labels)), "label2id": {x: i for i, x in enumerate(model.labels)}}


def encoder_of(model: Model) -> Encoder:
    return model if isinstance(model, Encoder) else model.encoder


def _json(settings: dict) -> str:
    return json.dumps(settings, ensure_ascii=False, indent=1) + "\n"
