"""From settings and tensors under the names of transformers to a model of ours, tensor by tensor.

Every tensor of ours is asked for by name, through the maps of `names`; one that is missing, left over or of
another shape is an error that names it.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from lib import checks
from lib.encoder import Config, Encoder
from lib.heads import CausalLM, FineTuned, Head, MaskedLM, NSPHead, PairsLM, SequenceHead, SpanHead, TokenHead
from lib.weights.names import (
    ACTIVATIONS,
    BARE,
    FAMILIES,
    HEAD_NAMES,
    MASKED,
    NEXT,
    NSP,
    PAIRS,
    SEQUENCE,
    SPAN,
    TOKEN,
    Family,
    translated,
)

AnyModel = TypeVar("AnyModel", bound=nn.Module)
Model = Encoder | MaskedLM | CausalLM | FineTuned
Tensors = Mapping[str, Tensor]
Ignore = tuple[str, ...]

# Constants that older files store (0, 1, 2, ... and the causal triangle): not weights.
CONSTANTS = ("position_ids", "token_type_ids", "attn.bias")
POOLER = "pooler.dense.weight"
# In a config.json of ours: the model predicts the next token with the token table, which is all its head.
TIED = "tied_unembedding"


def model_from(settings: Mapping, tensors: Tensors, ignore: Ignore = ()) -> Model:
    """The model that a checkpoint holds, with its head if there is one of ours for it."""
    kind = kind_of(settings, canonical(settings, tensors))
    if kind == BARE and (settings.get(TIED) or settings.get("model_type") == "openai-gpt"):
        return causal_lm_from(settings, tensors, ignore)
    if kind == BARE:
        return encoder_from(settings, tensors, ignore)
    if kind in (MASKED, PAIRS):
        return masked_lm_from(settings, tensors, ignore, pairs=kind == PAIRS)
    return fine_tuned_from(settings, tensors, kind, ignore)


def encoder_from(settings: Mapping, tensors: Tensors, ignore: Ignore = ()) -> Encoder:
    """An encoder from the settings of a config.json and a dictionary of tensors; a known head is left out."""
    tensors = canonical(settings, tensors)
    config = read_settings(settings, pooler=POOLER in tensors)
    names = family_of(settings).names(config.layers)
    return fill(Encoder(config), tensors, names, (*HEAD_NAMES, *ignore)).eval()


def masked_lm_from(
    settings: Mapping, tensors: Tensors, ignore: Ignore = (), *, pairs: bool = False
) -> MaskedLM:
    """A masked model from the settings of a config.json and a dictionary of tensors; with `pairs`, its
    next-sentence head too."""
    tensors, family = canonical(settings, tensors), family_of(settings)
    kind = PAIRS if pairs else MASKED
    if kind not in family.heads:
        raise ValueError(
            f"model_type {settings['model_type']!r} has no MLM head: it is a left-to-right model"
        )
    config = read_settings(settings, pooler=POOLER in tensors)
    require_activation(family, config)
    bias = family.heads[kind]["head.bias"]
    decoder = f"{bias.removesuffix('.bias')}.decoder"
    _require_tied(tensors, f"{decoder}.weight", "embeddings.word_embeddings.weight")
    _require_tied(tensors, f"{decoder}.bias", bias)
    model = PairsLM(config) if pairs else MaskedLM(config)
    left_out = (decoder, *ignore) if pairs else (decoder, NSP, *ignore)
    return fill(model, tensors, family.names(config.layers, kind), left_out).eval()


def causal_lm_from(settings: Mapping, tensors: Tensors, ignore: Ignore = ()) -> CausalLM:
    """A left-to-right model from the settings of a config.json and a dictionary of tensors."""
    tensors = canonical(settings, tensors)
    config = read_settings(settings, pooler=POOLER in tensors)
    _require_tied(tensors, "lm_head.weight", "tokens_embed.weight")
    names = family_of(settings).names(config.layers, BARE)
    return fill(CausalLM(config), tensors, names, ("lm_head.weight", *ignore)).eval()


def fine_tuned_from(settings: Mapping, tensors: Tensors, kind: str, ignore: Ignore = ()) -> FineTuned:
    """An encoder under the head of a task, with the names of its classes."""
    tensors, family = canonical(settings, tensors), family_of(settings)
    names = family.heads[kind]
    pooler = POOLER in tensors or "encoder.pooler.W" in names or kind in (SEQUENCE, NEXT)
    config = read_settings(settings, pooler=pooler)
    layer = tensors.get(f"{names['head.W']}.weight")
    classes = len(layer) if layer is not None and layer.dim() else 2
    head: Head
    if kind in (NEXT, SPAN):
        head = (NSPHead if kind == NEXT else SpanHead)(config)
    else:
        head = (SequenceHead if kind == SEQUENCE else TokenHead)(config, max(classes, 1))
    model = FineTuned(
        Encoder(config), head, read_labels(settings, classes) if kind in (SEQUENCE, TOKEN) else None
    )
    return fill(model, tensors, family.names(config.layers, kind), ignore).eval()


def kind_of(settings: Mapping, tensors: Tensors) -> str:
    """What stands on the encoder of a checkpoint: its tensors say, and where they do not, its settings."""
    family, (_, named) = family_of(settings), named_class(settings)
    if named and named not in family.heads and not named.endswith(("LMHeadModel", "ForCausalLM")):
        raise ValueError(
            f"architecture {settings['architectures'][0]!r} has a head that is not known here: "
            "lib.weights.load_encoder(folder) gives its encoder"
        )
    begins = {beginning for beginning in HEAD_NAMES for name in tensors if name.startswith(beginning)}
    if MASKED in family.heads and any(name.startswith(("cls.predictions", "lm_head.")) for name in tensors):
        return PAIRS if f"{NSP}.weight" in tensors and POOLER in tensors else MASKED
    if "cls." in begins:
        return NEXT
    if "qa_outputs." in begins:
        return SPAN
    if "classifier." in begins:
        pooled = POOLER in tensors or "classifier.out_proj.weight" in tensors
        return named if named in (SEQUENCE, TOKEN) else SEQUENCE if pooled else TOKEN
    return named if named in family.heads else BARE


def family_of(settings: Mapping) -> Family:
    """That of its `model_type`, or, in files from before there was one, of the class that it names."""
    checks.instance("settings", settings, Mapping, "what a config.json holds")
    return FAMILIES[
        checks.one_of("model_type", settings.get("model_type", named_class(settings)[0]), FAMILIES)
    ]


def named_class(settings: Mapping) -> tuple[str, str]:
    """The class in `architectures`, in two parts: ("bert", "ForMaskedLM"); empty if it is not of ours."""
    names = settings.get("architectures")
    name = names[0] if isinstance(names, list) and names and isinstance(names[0], str) else ""
    fitting = ((kind, name.removeprefix(f.title)) for kind, f in FAMILIES.items() if name.startswith(f.title))
    return min(fitting, key=lambda found: len(found[1]), default=("", ""))


def read_settings(settings: Mapping, *, pooler: bool) -> Config:
    """Our configuration from the settings of a config.json; what we cannot compute is refused."""
    family = family_of(settings)
    if (positions := settings.get("position_embedding_type", "absolute")) != "absolute":
        raise ValueError(f"position_embedding_type must be 'absolute', got {positions!r}")
    gpt = family.title == "OpenAIGPT"
    activation = settings.get("afn" if gpt else "hidden_act", "gelu")
    activation = ACTIVATIONS[checks.one_of("activation", activation, ACTIVATIONS)]
    complete = {**family.defaults, **settings}
    given: dict[str, Any] = {ours: complete[theirs] for ours, theirs in family.settings.items()}
    if gpt:
        given |= {"activation": "gelu_tanh" if activation == "gelu" else activation}
        return Config(**given, segments=0, causal=True, embedding_norm=False, pooler=False, pad_id=None)
    return Config(
        **given,
        activation=activation,
        causal=settings.get("is_decoder", False),
        pooler=pooler,
        pre_norm=family.pre_norm,
        count_real_positions=family.counts_real_positions,
    )


def read_labels(settings: Mapping, classes: int) -> tuple[str, ...] | None:
    """The names of the classes in the order of their numbers; None if the settings give none."""
    given = settings.get("id2label")
    if given is None:
        return None
    numbers = [str(i) for i in range(classes)]
    if not isinstance(given, Mapping) or sorted(map(str, given)) != sorted(numbers):
        raise ValueError(f"id2label must name the {classes} classes of the head, got {given!r:.80}")
    names = {str(i): name for i, name in given.items()}
    return tuple(checks.instance("id2label", names[i], str) for i in numbers)


def require_activation(family: Family, config: Config) -> None:
    """The MLM head of RoBERTa computes with gelu, whatever the blocks below it do."""
    if family.heads is not FAMILIES["bert"].heads and config.activation != "gelu":
        raise ValueError(
            f"activation must be 'gelu' for the MLM head of a {family.title}, got {config.activation!r}"
        )


def fill(module: AnyModel, tensors: Tensors, names: Mapping[str, str], ignore: Ignore = ()) -> AnyModel:
    """Copy `tensors` into `module`; `names` maps our names (or beginnings of names) to theirs."""
    wanted = {ours: translated(ours, names) for ours in module.state_dict()}
    extra = sorted(
        name
        for name in tensors.keys() - set(wanted.values())
        if not name.startswith(ignore) and not name.endswith(CONSTANTS)
    )
    missing = sorted(wanted.values() - tensors.keys())
    if missing:
        raise ValueError(f"the checkpoint does not fit: missing {_some(missing)}; left over {_some(extra)}")
    if extra:
        raise ValueError(
            f"the checkpoint does not fit: left over {_some(extra)}; to do without them, "
            f"name their beginnings: ignore=({extra[0].partition('.')[0]!r},)"
        )
    state = {ours: tensors[theirs] for ours, theirs in wanted.items()}
    for ours, parameter in module.state_dict().items():
        theirs, tensor = wanted[ours], state[ours]
        if tensor.shape != parameter.shape:
            told = f"{tuple(parameter.shape)} ({ours})"
            raise ValueError(f"{theirs} has shape {tuple(tensor.shape)}, the configuration asks for {told}")
        if not tensor.is_floating_point() or not checks.all_finite(tensor.float()):
            raise ValueError(f"{theirs} must hold finite floating-point numbers, and it does not")
    module.load_state_dict(state)
    return module


def canonical(settings: Mapping, tensors: Tensors) -> dict[str, Tensor]:
    """The tensors under the names of the maps: no model prefix, modern norm names, GPT's Q, K, V apart."""
    checks.instance("tensors", tensors, Mapping)
    family, renamed = family_of(settings), {}
    for name, tensor in tensors.items():
        checks.tensor(name, tensor)
        name = name.removeprefix(family.prefix)
        # Files written before 2019 keep the norm's names of the TensorFlow original.
        name = name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
        renamed[name] = tensor
    return _split_gpt(renamed) if family.title == "OpenAIGPT" else renamed


def _require_tied(tensors: Tensors, copy: str, original: str) -> None:
    """The decoder is the token table (and the bias) once more; a file in which it is not was never tied."""
    if copy in tensors and original in tensors and not torch.equal(tensors[copy], tensors[original]):
        raise ValueError(f"{copy} differs from {original}: this model's unembedding is not tied")


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


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:5]) or "nothing"
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown
