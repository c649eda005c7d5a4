"""Our names beside those of transformers: tensors, settings, defaults; one `Family` per kind of model.

An entry of a map is a full name, or a module whose weight and bias keep their names. `{i}` is the number of
the block. Names of the encoder are written without the prefix that they carry under a head.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lib import checks

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
PRE_NORM_ENCODER = BERT_ENCODER | {
    "blocks.{i}.norm_1": "encoder.layer.{i}.attention.LayerNorm",
    "blocks.{i}.norm_2": "encoder.layer.{i}.intermediate.LayerNorm",
    "norm": "LayerNorm",
}
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

# What stands on the encoder, by the ending of the class in transformers. A tagger's layer is the same in all.
MASKED, PAIRS, NEXT = "ForMaskedLM", "ForPreTraining", "ForNextSentencePrediction"
SEQUENCE, TOKEN, SPAN, BARE = (
    "ForSequenceClassification",
    "ForTokenClassification",
    "ForQuestionAnswering",
    "Model",
)
NSP = "cls.seq_relationship"
COMMON = {TOKEN: {"head.W": "classifier"}, SPAN: {"head.W": "qa_outputs"}, NEXT: {"head.W": NSP}, BARE: {}}
BERT_MLM = {
    "head.W": "cls.predictions.transform.dense",
    "head.norm": "cls.predictions.transform.LayerNorm",
    "head.bias": "cls.predictions.bias",
}
ROBERTA_MLM = {"head.W": "lm_head.dense", "head.norm": "lm_head.layer_norm", "head.bias": "lm_head.bias"}
BERT_HEADS = COMMON | {
    MASKED: BERT_MLM,
    PAIRS: BERT_MLM | {"nsp.W": NSP},
    SEQUENCE: {"head.W": "classifier"},
}
# RoBERTa keeps the layer that BERT calls the pooler inside its classifier.
ROBERTA_HEADS = COMMON | {
    MASKED: ROBERTA_MLM,
    PAIRS: ROBERTA_MLM | {"nsp.W": NSP},
    SEQUENCE: {"encoder.pooler.W": "classifier.dense", "head.W": "classifier.out_proj"},
}
HEAD_NAMES = ("cls.", "lm_head.", "classifier.", "qa_outputs.")  # how the names of all of these begin

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
# What a config.json may leave out, because transformers' class for it has a default: (vocabulary, [PAD]).
BERT_DEFAULTS = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
    "hidden_dropout_prob": 0.1,
    "layer_norm_eps": 1e-12,
    "vocab_size": 30_522,
    "pad_token_id": 0,
}
ROBERTA_DEFAULTS = BERT_DEFAULTS | {"vocab_size": 50_265, "pad_token_id": 1}
XLM_R_DEFAULTS = BERT_DEFAULTS | {"pad_token_id": 1}
GPT_DEFAULTS = {
    "vocab_size": 40_478,
    "n_embd": 768,
    "n_layer": 12,
    "n_head": 12,
    "n_positions": 512,
    "resid_pdrop": 0.1,
    "layer_norm_epsilon": 1e-5,
}
# Theirs -> ours. OpenAI's own "gelu" has always meant the tanh curve.
ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_python": "gelu",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
}


@dataclass(frozen=True)
class Family:
    """How transformers names one kind of model."""

    title: str  # its classes begin with it: BertForMaskedLM
    prefix: str  # of the encoder's tensors under a head
    defaults: Mapping[str, float]
    encoder: Mapping[str, str] = field(default_factory=lambda: BERT_ENCODER)
    heads: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: ROBERTA_HEADS)
    settings: Mapping[str, str] = field(default_factory=lambda: BERT_SETTINGS)
    pre_norm: bool = False
    counts_real_positions: bool = True

    def names(self, layers: int, kind: str | None = None) -> dict[str, str]:
        """Ours -> theirs for so many blocks: the encoder alone, or under the head of a `kind`."""
        blocks = range(checks.integer("layers", layers, 1))
        encoder = {
            ours.replace("{i}", str(i)): theirs.replace("{i}", str(i))
            for ours, theirs in self.encoder.items()
            for i in blocks
        }
        if kind is None:
            return encoder
        return {f"encoder.{ours}": theirs for ours, theirs in encoder.items()} | dict(self.heads[kind])


FAMILIES = {
    "bert": Family("Bert", "bert.", BERT_DEFAULTS, heads=BERT_HEADS, counts_real_positions=False),
    "roberta": Family("Roberta", "roberta.", ROBERTA_DEFAULTS),
    "xlm-roberta": Family("XLMRoberta", "roberta.", XLM_R_DEFAULTS),
    "camembert": Family("Camembert", "roberta.", XLM_R_DEFAULTS),
    "roberta-prelayernorm": Family(
        "RobertaPreLayerNorm", "roberta_prelayernorm.", ROBERTA_DEFAULTS, PRE_NORM_ENCODER, pre_norm=True
    ),
    "openai-gpt": Family(
        "OpenAIGPT", "transformer.", GPT_DEFAULTS, GPT_ENCODER, {BARE: {}}, GPT_SETTINGS, False, False
    ),
}


def translated(ours: str, names: Mapping[str, str]) -> str:
    """Their name for ours."""
    if ours in names:
        return names[ours]
    module, _, kind = ours.rpartition(".")
    if module not in names:
        raise ValueError(f"no name is known for our {ours} in this kind of checkpoint")
    return f"{names[module]}.{kind}"
