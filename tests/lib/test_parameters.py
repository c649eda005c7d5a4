"""The closed form of `lib.parameters` against the real modules, ours and the reference's."""

import re

import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.encoder import Config
from lib.heads import MaskedLM
from lib.parameters import LLAMA_3, Count, LlamaConfig, count, count_llama
from lib.presets import preset
from tests.refusals import refuses

LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
ROBERTA = {"max_position_embeddings": 514, "type_vocab_size": 1}
REFERENCE = {
    "bert-base": transformers.BertConfig(),
    "bert-large": transformers.BertConfig(**LARGE),
    "roberta-base": transformers.RobertaConfig(vocab_size=50_265, **ROBERTA),
    "xlm-r-base": transformers.XLMRobertaConfig(vocab_size=250_002, **ROBERTA),
    "xlm-r-large": transformers.XLMRobertaConfig(vocab_size=250_002, **ROBERTA, **LARGE),
    "gpt-1": transformers.OpenAIGPTConfig(),
}


@pytest.mark.parametrize("name", REFERENCE)
def test_total_equals_the_reference_model(name):
    with torch.device("meta"):
        model = transformers.AutoModel.from_config(REFERENCE[name])
    assert count(preset(name)).total == sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("name", LLAMA_3)
def test_llama_equals_the_reference_model(name):
    c = LLAMA_3[name]
    sizes = {"vocab_size": c.vocab_size, "hidden_size": c.d, "intermediate_size": c.d_ff}
    sizes |= {"num_hidden_layers": c.layers, "num_attention_heads": c.heads}
    sizes |= {"num_key_value_heads": c.kv_heads, "tie_word_embeddings": False}
    with torch.device("meta"):
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes))
    assert count_llama(c).total == sum(p.numel() for p in model.parameters())


@pytest.mark.guards("05.s37")
def test_the_difference_names_the_part():
    xlmr, roberta = count(preset("xlm-r-base")), count(preset("roberta-base"))
    assert xlmr - roberta == Count(token_embeddings=(250_002 - 50_265) * 768)
    assert xlmr.token_embeddings / xlmr.total > 0.6 > roberta.token_embeddings / roberta.total


# How the tensors of each part are called; the first that fits.
NAMES = {"head": "^head", "norms": "norm", "attention": "attention", "feed_forward": "feed_forward"}
NAMES |= {"pooler": "pooler", "token_embeddings": "token"}
NAMES |= {"position_embeddings": "position", "segment_embeddings": "segment"}
MOST = {"layers": 3, "vocab_size": 50, "positions": 9, "d_ff": 40}
CONFIGURATIONS = {name: st.integers(1, most) for name, most in MOST.items()} | {"segments": st.integers(0, 3)}
CONFIGURATIONS |= dict.fromkeys(("pre_norm", "embedding_norm", "pooler"), st.booleans())


@settings(max_examples=30)
@given(st.integers(1, 4), st.integers(1, 8), st.fixed_dictionaries(CONFIGURATIONS))
def test_closed_form_for_any_configuration(heads, d_k, others):
    config = Config(d=heads * d_k, heads=heads, **others)
    built = dict.fromkeys(count(config).parts(), 0)
    for name, tensor in MaskedLM(config).named_parameters():
        built[next(part for part, pattern in NAMES.items() if re.search(pattern, name))] += tensor.numel()
    assert count(config, mlm_head=True) == Count(**built)
    assert count(config) == Count(**built | {"head": 0})


test_a_bad_llama_configuration_is_refused = refuses(
    (lambda: LlamaConfig(d=64, layers=1, heads=4, d_ff=8, kv_heads=3), "kv_heads=3"),
    (lambda: LlamaConfig(d=64, layers=0, heads=4, d_ff=8), "layers must be an integer"),
)
