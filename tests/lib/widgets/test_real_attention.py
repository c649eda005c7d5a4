"""The attention of a real encoder: its Python twin, and what it alone does on a page."""

import re

import pytest
import torch

from lib.attention import Trace
from lib.tokenizer import Tokenizer
from lib.weights import minilm
from lib.widgets.real_attention import MASKS, SENTENCES, real_attention, shown, thousandths


@torch.no_grad()
@pytest.mark.parametrize("mask", MASKS)
def test_twin_is_the_trace_of_the_real_encoder(mask):
    encoder, tokenizer = minilm(), Tokenizer.minilm()
    encoding = tokenizer.encode(SENTENCES[0])
    encoder(torch.tensor([encoding.ids]), causal=mask == "causal", trace=(trace := Trace()))
    for layer, head in ((1, 1), (3, 12), (6, 7)):
        weights = shown(SENTENCES[0], mask, layer, head).weights
        torch.testing.assert_close(weights, trace.weights[layer - 1][0, head - 1].double(), atol=1e-5, rtol=0)


def test_it_opens_at_the_head_that_looks_at_the_word_before():
    widget = real_attention().widget
    assert shown(SENTENCES[0], "bidirecional", widget.layer, widget.head).shares["previous"] > 0.9
    query, key = widget.cell
    assert key == query - 1


def test_thousandths_are_nearest():
    weights = torch.tensor([0.0, 0.0004, 0.0006, 0.5, 1.0], dtype=torch.float64)
    assert thousandths(weights).tolist() == [0, 0, 1, 500, 1000]


def test_the_data_of_a_page_is_small_and_the_widget_says_how_small(show):
    panel = real_attention()
    carried = sum(len(s[mask]) for s in panel.widget.sentences for mask in MASKS)
    assert carried < 200_000
    [opened] = show(panel)
    said = f"{carried / 1000:.0f} kB para {len(SENTENCES)} frases"
    assert said in opened.panel.locator(".cw-size").inner_text()


def test_it_bears_the_name_of_the_model_that_is_shown(show, monkeypatch):
    monkeypatch.setattr("lib.widgets.real_attention.real_encoder_name", lambda: "bertimbau")
    [opened] = show(real_attention())
    assert opened.panel.locator(".cw-size").inner_text().startswith("bertimbau, 6 camadas de 12 cabeças")
    assert "MiniLM" not in opened.panel.inner_text()


def test_hidden_cells_are_marked_without_colour(show):
    [opened] = show(real_attention(mask="causal"))
    hidden, seen = (opened.panel.locator(f"td[data-i='{i}'][data-j='{j}']") for i, j in ((1, 2), (2, 1)))
    assert hidden.get_attribute("aria-label").endswith("escondido pela máscara")
    assert "gradient" in hidden.evaluate("cell => getComputedStyle(cell).backgroundImage")
    assert seen.evaluate("cell => getComputedStyle(cell).backgroundImage") == "none"


def test_a_band_is_as_thick_as_its_weight(show):
    [opened] = show(real_attention(layer=2, head=1, view="linhas"))
    weights = shown(SENTENCES[0], "bidirecional", 2, 1).weights
    n = len(weights)
    bands = opened.panel.locator(".cw-bands span")
    for k, shape in enumerate(bands.evaluate_all("all => all.map(span => span.style.clipPath)")):
        y = [float(p) for p in re.findall(r"% (-?[\d.]+)%", shape)]
        i, j = divmod(k, n)
        assert n * (y[3] - y[0]) / 100 == pytest.approx(weights[i, j].item(), abs=1e-3)
        assert (y[0] + y[3]) * n / 200 == pytest.approx(i + 0.5, abs=1e-3)
        assert (y[1] + y[2]) * n / 200 == pytest.approx(j + 0.5, abs=1e-3)
