"""The closed form of `lib.parameters` against the real modules, ours and the reference's."""

import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.encoder import Config, Encoder
from lib.parameters import LLAMA_3, Count, LlamaConfig, count, count_llama, count_modules
from lib.presets import PRESETS, preset


@pytest.mark.parametrize("name", PRESETS)
def test_closed_form_equals_the_modules_of_every_preset(name):
    with torch.device("meta"):  # shapes without memory: XLM-R large would take 2 GB
        encoder = Encoder(preset(name))
    counted = count(preset(name))
    assert counted == count_modules(encoder), "part by part"
    assert counted.total == sum(p.numel() for p in encoder.parameters()), "no parameter outside the parts"


LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
ROBERTA = {"max_position_embeddings": 514, "type_vocab_size": 1}
REFERENCE = {
    "bert-base": transformers.BertConfig(),
    "bert-large": transformers.BertConfig(**LARGE),
    "roberta-base": transformers.RobertaConfig(vocab_size=50_265, **ROBERTA),
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
    config = LLAMA_3[name]
    with torch.device("meta"):
        model = transformers.LlamaForCausalLM(
            transformers.LlamaConfig(
                vocab_size=config.vocab_size,
                hidden_size=config.d,
                num_hidden_layers=config.layers,
                num_attention_heads=config.heads,
                num_key_value_heads=config.kv_heads,
                intermediate_size=config.d_ff,
                tie_word_embeddings=False,
            )
        )
    assert count_llama(config).total == sum(p.numel() for p in model.parameters())


def test_published_sizes():
    # Devlin 2019: 110M and 340M; Conneau 2020: 270M and 550M; Radford 2018 (in Devlin's words): 117M;
    # Grattafiori 2024: 405B. Each is the count rounded, most of them down or to tens.
    published = {"bert-base": 110e6, "bert-large": 340e6, "xlm-r-base": 270e6, "xlm-r-large": 550e6}
    for name, size in published.items():
        assert count(preset(name)).total == pytest.approx(size, rel=0.035), name
    assert count(preset("gpt-1")).total == pytest.approx(117e6, abs=0.5e6)
    assert count_llama(LLAMA_3["llama-3-405b"]).total // 10**9 == 405


@pytest.mark.guards("05.s37")
def test_the_difference_names_the_part():
    xlmr, roberta = count(preset("xlm-r-base")), count(preset("roberta-base"))
    assert xlmr - roberta == Count(token_embeddings=(250_002 - 50_265) * 768)
    assert xlmr.token_embeddings / xlmr.total > 0.6 > roberta.token_embeddings / roberta.total


CONFIGURATIONS = {
    "layers": st.integers(1, 3),
    "vocab_size": st.integers(1, 50),
    "d_ff": st.integers(1, 40),
    "segments": st.integers(0, 3),
} | dict.fromkeys(("pre_norm", "embedding_norm", "pooler"), st.booleans())


@settings(max_examples=30)
@given(st.integers(1, 4), st.integers(1, 8), st.fixed_dictionaries(CONFIGURATIONS))
def test_closed_form_for_any_configuration(heads, d_k, others):
    config = Config(d=heads * d_k, heads=heads, positions=7, **others)
    encoder = Encoder(config)
    assert count(config) == count_modules(encoder)
    assert count(config).total == sum(p.numel() for p in encoder.parameters())


def test_a_bad_llama_configuration_is_refused():
    with pytest.raises(ValueError, match="kv_heads=3"):
        LlamaConfig(d=64, layers=1, heads=4, d_ff=8, kv_heads=3)
    with pytest.raises(ValueError, match="layers must be an integer"):
        LlamaConfig(d=64, layers=0, heads=4, d_ff=8)
