"""How every plot looks: letters that a phone can show, none on another, the palette in both themes."""

import itertools
import re
import sys

import pytest
import torch
from matplotlib.text import Text

from lib.attention import causal_mask
from lib.encoder import Config
from lib.plots import (
    architecture,
    attention,
    curves,
    encoders,
    entropy,
    geometry,
    head_maps,
    matrices,
    matrix,
    mlm,
    palette,
    project,
    style,
    tasks,
    training,
    who_sees_whom,
)
from lib.plots.encoders import by_d_k, head_grid, stacked
from lib.plots.entropy import landscape, surprise
from lib.plots.tasks import accuracies
from lib.plots.training import against_exact, against_floor
from lib.plots.vector import svg
from tests.trust.pages import notebooks
from trust.notebooks import load

WORDS = ["[CLS]", "cachorro", "correu", "até", "padaria", "ontem", ",", "feliz", "[SEP]"]
A = torch.tril(torch.rand(5, 5, generator=torch.Generator().manual_seed(1)))
MAP = torch.softmax(4 * torch.rand(9, 9, generator=torch.Generator().manual_seed(2)), -1)
GRID = torch.rand(6, 12, generator=torch.Generator().manual_seed(3))
GRID[0, 0] = 1.0
SERIES = [("sem pré-treino", [3.0, 2.0, 1.5, 1.25]), ("com a máscara causal", [3.0, 2.5, 1.0, 0.5])]
BINS = [(0.1, 0.2, 9), (0.5, 0.45, 9), (0.9, 0.8, 9)]
SHARES = {
    "cozinheiro": 0.4,
    "alfaiate": 0.25,
    "padeiro": 0.2,
    "estilista": 0.1,
    "costureira": 0.04,
    "rua": 0.01,
}
CLASSES = ["NOUN", "ADP", "DET", "PUNCT", "VERB", "PROPN", "ADJ", "PRON", "ADV", "CCONJ"]
FATED = zip(
    ["O", "[MASK]", "corre", "cachorro", "na", "rua"], [*mlm.FATES, "intacto", "intacto"], strict=True
)
DRAWS = [list(FATED)]

DARK = dict(palette.PALETTE.values())
PLOTS = {
    "matrix": lambda: matrix(A, WORDS[:5], title="Pesos de atenção causal", hidden=~causal_mask(5)),
    "matrices": lambda: matrices([("com a máscara", A), ("aplicada depois da softmax", -A)], WORDS[:5]),
    "who_sees_whom": lambda: who_sees_whom([("com a máscara causal", causal_mask(5))], WORDS[:5]),
    "curves": lambda: curves(
        SERIES,
        xlabel="passo de treino",
        ylabel="perda na parte reservada (nats)",
        x=[0, 100, 200, 3000],
        floor=("piso de quem lê só a palavra atual", 0.4),
    ),
    "stacked": lambda: stacked(
        {
            n: dict.fromkeys(["embeddings", "atenção", "feed-forward", "normas", "cabeça", "resto"], 20.0)
            for n in ("spanbert-base", "xlm-r-base")
        },
        xlabel="milhões de parâmetros",
    ),
    "head_grid": lambda: head_grid([("na palavra anterior", GRID)]),
    "head_maps": lambda: head_maps([("bloco 1, cabeça 3", MAP)], WORDS),
    "by_d_k": lambda: by_d_k([("norma do gradiente", SERIES)], [4, 16, 64, 256]),
    "encoder": lambda: architecture.encoder(
        ["[CLS]", "a", "manga", "madura", "[SEP]"], Config(10, d=8, layers=2, heads=2)
    ),
    "blocks": architecture.blocks,
    "clouds": lambda: geometry.clouds([("MiniLM (inglês)", GRID.reshape(-1, 2), ["fruta", "roupa"] * 18)]),
    "by_layer": lambda: geometry.by_layer(SERIES, ylabel="cosseno médio"),
    "surprise": lambda: surprise([("confiante", 0.80), ("uniforme", 0.25)]),
    "landscape": lambda: landscape(
        lambda u, v: (u * v - 1) ** 2,
        [torch.tensor([[2.0, 0.1], [1.0, 0.9]]), torch.tensor([[-2.0, -0.1], [-1.0, -0.9]])],
        extent=2.5,
        names=("a", "b"),
    ),
    "draws": lambda: mlm.draws(DRAWS * 3),
    "copy_or_doubt": lambda: mlm.copy_or_doubt(
        torch.logspace(-8, 0, 9), torch.linspace(0, 1, 9), threshold=1 / 30_000
    ),
    "accuracies": lambda: accuracies(
        {"classe gramatical": 0.2, "inferência": 0.5},
        {"sem pré-treino": {"inferência": [0.3]}, "congelado": {}, "ajusta tudo": {"inferência": [0.9]}},
    ),
    "against_floor": lambda: against_floor(
        [("causal, gramática grande", [0, 300, 600], [3.0, 2.0, 1.5], 1.4)]
    ),
    "against_exact": lambda: against_exact([("Ana ▁ o banco …", SHARES, SHARES)]),
    "bars": lambda: project.bars(
        {"a palavra e a sua aparência": [0.9], "o seu BERT": [0.7, 0.8]}, xlabel="acerto"
    ),
    "groups": lambda: project.groups(
        [
            (
                "vezes entre os rotulados",
                [(n, 0.5, 1234) for n in ("nenhuma", "1 a 2", "3 a 9", "10 a 99", "100+")],
            )
        ],
        ylabel="acerto na prova",
    ),
    "guesses": lambda: project.guesses(
        [
            (
                "O presidente da república falou ▁▁▁ os jornalistas ontem à tarde.",
                [("▁com", 0.5), ("▁para", 0.2)],
            )
        ]
    ),
    "marked": lambda: project.marked(WORDS, ["NOUN"] * 9, ["NOUN", "PROPN", "ADJ"] * 3),
    "calibration": lambda: project.calibration([("lacunas", BINS), ("tarefa", BINS)]),
    "confusion": lambda: project.confusion(CLASSES * 2, CLASSES + CLASSES[::-1], CLASSES),
}
# What words and figures stand on.
GROUNDS = ("surface", "pale", "warm")


def pictures(name):
    drawn = PLOTS[name]()
    return drawn if isinstance(drawn, style.Panels) else [drawn]


def lettering(fig):
    """The texts of a figure that are seen, and their boxes."""
    fig.canvas.draw()
    renderer = fig.canvas.get_renderer()
    texts = (t for t in fig.findobj(Text) if t.get_visible() and t.get_text().strip())
    return [(t, t.get_window_extent(renderer)) for t in texts]


def shown(fig):
    """The same, without the ticks beyond the ends of an axis, which matplotlib keeps and does not draw."""
    drawn = re.findall(r"<text[^>]*>(.*?)</text>", svg(fig))
    words = {re.sub("<.*?>", "", text) for text in drawn}
    found = [
        (t, box) for t, box in lettering(fig) if "$" in t.get_text() or t.get_text().split("\n")[0] in words
    ]
    frame = fig.bbox.padded(1)
    return [(t, box) for t, box in found if box.overlaps(frame)]


def test_every_function_that_draws_is_looked_at():
    modules = (attention, architecture, sys.modules["lib.plots.curves"], encoders, entropy, geometry, mlm)
    functions = {
        name
        for module in (*modules, project, tasks, training)
        for name, found in vars(module).items()
        if not name.startswith("_") and getattr(found, "__module__", "") == module.__name__
    }
    assert functions - {"block", "Bins", "Shares"} == PLOTS.keys()  # `blocks` draws each block


@pytest.mark.parametrize("name", PLOTS)
def test_a_phone_shows_every_letter(name):
    for fig in pictures(name):
        width, _ = fig.get_size_inches() * 72
        assert width <= style.PHONE
        sizes = re.findall(r'font-size="([\d.]+)"', svg(fig))
        assert min(map(float, sizes)) >= style.LEGIBLE


@pytest.mark.parametrize("name", PLOTS)
def test_no_text_stands_on_another_or_is_cut(name):
    for fig in pictures(name):
        found = shown(fig)
        frame = fig.bbox.padded(1.5)
        cut = [
            t.get_text() for t, b in found if not (frame.contains(b.x0, b.y0) and frame.contains(b.x1, b.y1))
        ]
        pairs = itertools.combinations(found, 2)
        assert not cut
        assert not [
            (a.get_text(), b.get_text())
            for (a, p), (b, q) in pairs
            if p.padded(-0.5).overlaps(q.padded(-0.5))
        ]


@pytest.mark.parametrize("name", PLOTS)
def test_colours_are_of_the_palette(name):
    for fig in pictures(name):
        drawing, style_sheet = "".join(re.split("<style>.*?</style>", text := svg(fig))), text
        used = set(re.findall(r'(fill|stroke)="(#\w+)"', drawing))
        assert used and {colour for _, colour in used} <= set(palette.LIGHT.values())
        rules = re.findall(r'\[(fill|stroke)="(#\w+)"\]\{\1:light-dark\(\2,(#\w+)\)\}', style_sheet)
        assert {(kind, light): dark for kind, light, dark in rules} == {
            use: DARK[use[1]] for use in used if DARK[use[1]] != use[1]
        }


def test_another_colour_is_refused():
    fig, ax = style.picture(200, 100)
    ax.plot([1, 2], color="#123456")
    with pytest.raises(ValueError, match="#123456 is no colour of the palette"):
        svg(fig)


@pytest.mark.parametrize("name", PLOTS)
def test_the_same_plot_has_the_same_bytes(name):
    assert [svg(fig) for fig in pictures(name)] == [svg(fig) for fig in pictures(name)]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_both_themes_have_contrast(theme):
    colour = {role: pair[theme] for role, pair in palette.PALETTE.items()}
    for ground in GROUNDS:
        assert palette.contrast(colour["text"], colour[ground]) >= 4.5
    assert palette.contrast(colour["on-high"], colour["focus"]) >= 4.5
    for mark in ("text", "muted", "focus", "second"):
        assert palette.contrast(colour[mark], colour["surface"]) >= 4.5
    for share in range(101):
        cell = palette.mixed(share / 100, palette.PALETTE["focus"], palette.PALETTE["surface"])[theme]
        role = next(role for role, light in palette.LIGHT.items() if light == palette.ink(share / 100))
        assert palette.contrast(colour[role], cell) >= 4.5, share


def test_the_colours_are_those_of_the_widgets():
    sheet = palette.SHEET.read_text(encoding="utf-8")
    for role, variable in (("text", "text"), ("focus", "focus"), ("surface", "surface")):
        for colour in palette.PALETTE[role]:
            assert f"--cw-{variable}: {colour}" in sheet


def test_a_cell_shows_the_picture_and_no_other():
    fig, _ = style.picture(200, 100)
    given = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("IPython.display.display", lambda data, raw: given.append(data))
        fig._ipython_display_()
    assert [sorted(data) for data in given] == [["image/svg+xml", "text/plain"]]
    assert given[0]["image/svg+xml"] == svg(fig)


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.name)
def test_a_notebook_stores_such_pictures_and_no_other(path):
    outputs = [o for cell in load(path)["cells"] for o in cell.get("outputs", ())]
    stored = [o["data"] for o in outputs if any(k.startswith("image/") for k in o.get("data", {}))]
    for data in stored:
        assert data.keys() == {"image/svg+xml", "text/plain"}
        text = "".join(data["image/svg+xml"])
        width = int(re.search(r'viewBox="0 0 (\d+)', text)[1])
        assert (
            width <= style.PHONE
            and min(map(float, re.findall(r'font-size="([\d.]+)', text))) >= style.LEGIBLE
        )
        assert set(re.findall(r'(?:fill|stroke)="(#\w+)"', text)) <= DARK.keys()
        elements = {"svg", "style", "rect", "g", "path", "text", "use", "defs", "clipPath", "pattern"}
        assert set(re.findall(r"<(\w+)", text)) <= elements
