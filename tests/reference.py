"""The reference models of Hugging Face transformers, scaled down, and how to bring their weights to ours."""

import torch
import transformers

from lib.encoder import Encoder
from lib.weights import encoder_from
from tests.randomness import seeded

SENTENCES = [
    "O banco aprovou o empréstimo.",
    "Sentei no banco da praça e comi uma manga.",
    "A vela do barco rasgou com o vento forte de ontem à noite, e ninguém soube consertá-la.",
    "Não!",
    "",
    "Quem põe sal na sopa é a avó; o avô só prova.",
]

SIZES = {"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 56}
ROBERTA = {"max_position_embeddings": 42, "type_vocab_size": 1, "pad_token_id": 1, "layer_norm_eps": 1e-5}

# One entry per architecture among the presets: the same switches, a hundredth of the size.
ARCHITECTURES = {
    "bert": transformers.BertConfig(vocab_size=61, max_position_embeddings=40, **SIZES),
    "spanbert": transformers.BertConfig(vocab_size=53, max_position_embeddings=40, **SIZES),
    "roberta": transformers.RobertaConfig(vocab_size=61, **ROBERTA, **SIZES),
    "xlm-r": transformers.XLMRobertaConfig(vocab_size=97, **ROBERTA, **SIZES),
    "minilm": transformers.BertConfig(
        vocab_size=61, max_position_embeddings=40, **SIZES | {"num_attention_heads": 12}
    ),
    "gpt-1": transformers.OpenAIGPTConfig(vocab_size=61, n_positions=40, n_embd=24, n_layer=3, n_head=4),
}


def randomise(model: torch.nn.Module, seed: int) -> torch.nn.Module:
    """Random weights far from their initial values, biases and norms included: every tensor must matter."""
    g = seeded(seed)
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.randn(p.shape, generator=g) * 0.2)
    return model


def reference(
    name: str, seed: int = 0, kind: type = transformers.AutoModel, attention: str = "eager", **changes
) -> torch.nn.Module:
    config = type(ARCHITECTURES[name])(**ARCHITECTURES[name].to_dict() | changes)
    torch.manual_seed(seed)
    return randomise(kind.from_config(config, attn_implementation=attention), seed).eval()


def ours(model: torch.nn.Module) -> Encoder:
    """Our encoder with the weights of a reference model, through the same road as a file on disk."""
    return encoder_from(model.config.to_dict(), model.state_dict())


def batch(config, b: int, n: int, seed: int, padding: str = "right") -> tuple[torch.Tensor, torch.Tensor]:
    """Random ids (b, n), padded to random lengths, and the mask of the real tokens."""
    g = seeded(seed)
    ids = torch.randint(3, config.vocab_size, (b, n), generator=g)
    lengths = torch.randint(1, n + 1, (b,), generator=g)
    lengths[0] = n
    mask = torch.arange(n)[None] < lengths[:, None]
    mask = mask.flip(1) if padding == "left" else mask
    pad = 0 if config.pad_token_id is None else config.pad_token_id
    return ids.masked_fill(~mask, pad), mask
