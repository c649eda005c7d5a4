"""The parameter counter: its Python twin, and what it alone does on a page."""

import pytest
import torch
from playwright.sync_api import expect
from torch.utils.flop_counter import FlopCounterMode

from lib.encoder import Config, Encoder
from lib.heads import MLMHead
from lib.parameters import count
from lib.presets import PRESETS
from lib.widgets.parameter_counter import FLAGS, SIZES, TITLES, config_of, forward_flops, parameter_counter
from tests.browser.chromium import assert_becomes
from tests.lib.widgets.cases.parameter_counter import Move, standing_at


@pytest.mark.parametrize(
    "config",
    [
        Config(50, d=32, layers=3, heads=4, d_ff=80, positions=16, pooler=False),
        Config(
            50, d=24, layers=1, heads=3, positions=8, pooler=False, segments=0, causal=True, pre_norm=True
        ),
        Config(50, d=16, layers=2, heads=2, positions=12, pooler=False, pad_id=1, count_real_positions=True),
    ],
)
def test_flops_are_what_torch_counts_on_the_real_encoder(config):
    ids = torch.randint(2, 50, (3, config.max_length), generator=torch.Generator().manual_seed(0))
    with FlopCounterMode(display=False) as counter:
        hidden = Encoder(config)(ids)
        forward = counter.get_total_flops()
        hidden.sum().backward()
        backward = counter.get_total_flops() - forward
    assert forward == ids.numel() * forward_flops(config)
    assert backward == 2 * forward, "training costs three forward passes"


def test_flops_of_the_head_are_what_torch_counts_at_the_predicted_positions():
    config = Config(50, d=16, layers=1, heads=2, positions=20, pooler=False)
    table = Encoder(config).embeddings.token.weight
    with FlopCounterMode(display=False) as counter:
        MLMHead(config)(torch.randn(3, config.d), table)  # 15% of 20 positions
    added = forward_flops(config, mlm_head=True) - forward_flops(config)
    assert counter.get_total_flops() == pytest.approx(20 * added)


@pytest.mark.parametrize("name", TITLES)
def test_every_preset_is_counted_as_lib_counts_it(name):
    at = standing_at(name)
    config = config_of(dict(at.sizes), dict(at.flags))
    assert config.max_length == PRESETS[name].max_length
    for head in (False, True):
        assert count(config, mlm_head=head) == count(PRESETS[name], mlm_head=head)


def test_presets_are_all_of_lib_and_differ_in_something():
    assert list(TITLES) == list(PRESETS)
    presets = parameter_counter().widget.presets
    assert len({tuple(p[name] for name in (*SIZES, *FLAGS)) for p in presets}) == len(presets)


def test_list_follows_the_sliders_and_the_sliders_the_list(page, show):
    [counter] = show(parameter_counter())
    for name, value, model in (
        ("layers", 24, "Tamanhos seus"),
        ("layers", 12, "BERT-base"),
        ("vocab_size", 29_794, "BERTimbau-base"),
    ):
        counter.go(Move(sizes={name: value}))
        assert_becomes(page, lambda: counter.read()["model"], model)
    for preset in [*reversed(TITLES), "xlm-r-large"]:
        counter.go(Move(preset))
        assert_becomes(page, lambda: counter.read()["model"], TITLES[preset])
    slider = counter.panel.get_by_role("slider", name="Vocabulário |V|", exact=True)
    expect(slider).to_have_attribute("aria-valuetext", "250.002")
    counter.choose("Modelo", label="Tamanhos seus")
    assert counter.differences() == [], "to name no model changes no size"
