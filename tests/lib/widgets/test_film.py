"""The films: the player, and that every number they show is what `lib` computes."""

import math
import re

import pytest
import torch
from playwright.sync_api import expect

from lib.attention import attention, causal_mask
from lib.corpus import PORTUGUESE, sample
from lib.corruption import mask_tokens
from lib.experiments.word_senses import cosines
from lib.losses import IGNORE_INDEX, perplexity
from lib.numbers import pt
from lib.tokenizer import Tokenizer
from lib.use import word_vector
from lib.weights import minilm
from lib.widgets.films.context import SIDE, context_film
from lib.widgets.films.corruption import corruption_film, expected
from lib.widgets.films.gradient import BARS, gradient_film
from lib.widgets.films.masking import masking_film
from lib.widgets.sense_space import WORDS
from tests.browser.chromium import assert_becomes
from tests.lib.widgets.cases.film import made
from tests.lib.widgets.cases.page import read_number
from tests.refusals import refuses

TOKENS = ["Ana", "viu", "o", "gato"]
SCORES = torch.tensor([[3, 0, 1, 2], [1, 2, 1, 2], [2, 2, 4, 0], [0, 3, 1, 2]]).double()
WORDS_4, GUESS = ["o", "sol", "brilha", "forte", "."], [0.1, 0.2, 0.3, 0.2, 0.2]


# --- the numbers --------------------------------------------------------------------------------------------


def test_the_softmax_closes_on_the_weights_of_lib():
    film = masking_film(TOKENS, SCORES, 4)
    last = film.at(len(film.frames) - 1)
    q, eye = SCORES, torch.eye(4).double()
    _, weights = attention(q, eye, eye, causal_mask(4), scale=0.5)
    for i in range(4):
        for j in range(4):
            if j <= i:
                assert last[f"cell {i} {j}"].text == pt(weights[i, j].item(), 3)
                assert last[f"cell {i} {j}"].weight == weights[i, j].item()
            else:
                assert last[f"mask {i} {j}"].text == "0" and weights[i, j] == 0
        assert last[f"sum {i}"].text == "1,000"


def test_before_it_closes_the_film_shows_scores_and_exponentials():
    film = masking_film(TOKENS, SCORES, 4)
    assert film.at(0)["cell 2 2"].text == "2,00" and film.at(1)["mask 0 3"].text == "−∞"
    assert film.at(0)["mask 0 3"].x > film.columns > film.at(1)["mask 0 3"].x
    assert film.at(2)["cell 2 2"].text == pt(math.exp(2), 3)
    assert film.at(3)["sum 2"].text == pt(math.exp(1) + math.exp(1) + math.exp(2), 3)


def test_words_fall_where_the_corruption_of_lib_puts_them():
    film = corruption_film(50, 12, seed=3)
    clean = sample(PORTUGUESE, 50, 3).ids
    noisy, labels = mask_tokens(
        clean, PORTUGUESE.vocabulary, rate=0.15, generator=torch.Generator().manual_seed(3)
    )
    seen, was = noisy[labels != IGNORE_INDEX].tolist(), clean[labels != IGNORE_INDEX].tolist()
    for k in range(12):
        waiting, fallen = film.at(0)[f"word {k}"], film.at(k + 1)[f"word {k}"]
        assert waiting.text == PORTUGUESE.vocabulary[was[k]] and waiting.look == "selected"
        assert fallen.text == PORTUGUESE.vocabulary[seen[k]] and fallen.y > waiting.y
        wanted = "masked" if fallen.text == "[MASK]" else "same" if seen[k] == was[k] else "swapped"
        assert fallen.look == wanted
    counts = [read_number(film.at(12)[f"count {fate}"].text) for fate in expected()]
    assert sum(counts) == 12
    shares = [read_number(film.at(13)[f"count {fate}"].text.rstrip("%")) for fate in expected()]
    masked = 100 * seen.count(PORTUGUESE.vocabulary.mask_id) / len(seen)
    assert shares[0] == pytest.approx(masked, abs=0.05) and sum(shares) == pytest.approx(100, abs=0.2)


def test_in_the_long_run_the_bins_hold_what_is_expected():
    film = corruption_film()
    last = film.at(len(film.frames) - 1)
    assert sum(expected().values()) == pytest.approx(1)
    for fate, share in expected().items():
        assert read_number(last[f"count {fate}"].text.rstrip("%")) == pytest.approx(100 * share, abs=3)


def test_nothing_falls_onto_anything_else():
    film = corruption_film()
    for step in range(len(film.frames)):
        places = [(item.x, item.y) for name, item in film.at(step).items() if name.startswith("word")]
        assert len(set(places)) == len(places)
        assert all(item.y >= 0 and item.x + item.width <= film.columns for item in film.at(step).values())


def test_arrows_are_the_gradient_and_the_bars_follow_it():
    film = gradient_film(WORDS_4, GUESS, "brilha", rate=0.5, steps=3)
    z = torch.tensor(GUESS).double().log()
    p = torch.tensor([0.0, 0, 1, 0, 0]).double()
    for step in range(3):
        q = z.softmax(-1)
        items = film.at(2 + step)
        for k in range(5):
            assert items[f"q {k}"].text == pt(q[k].item(), 3)
            slope = read_number(items[f"slope {k}"].text.replace("+", ""))
            assert slope == pytest.approx((q - p)[k].item(), abs=6e-4)
            assert items[f"bar {k}"].width == pytest.approx(BARS * q[k].item())
            assert items[f"arrow {k}"].width == pytest.approx(BARS * abs(q - p)[k].item())
        assert [items[f"arrow {k}"].look for k in range(5)] == ["push", "push", "pull", "push", "push"]
        z = z - 0.5 * (q - p)
    lost = -z.log_softmax(-1)[2].item()
    assert f"para {pt(lost, 3)}" in film.frames[-1].says and perplexity(lost) > 1


def test_points_stand_at_the_mean_cosines_of_the_real_encoder():
    film, word = context_film(), WORDS[0]
    encoder, tokenizer = minilm(), Tokenizer.minilm()
    vectors = torch.stack([word_vector(encoder, tokenizer, s, word.text) for s in word.sentences])
    cosine, last = cosines(vectors), film.at(len(film.frames) - 1)
    low = read_number(re.search(r"\((\S+) a 1\)", last["right"].text).group(1))
    for i, label in enumerate(word.labels):
        for sense, place in enumerate((last[f"dot {i}"].x + 0.5, SIDE - last[f"dot {i}"].y - 0.5)):
            others = [j for j, other in enumerate(word.labels) if other == sense and j != i]
            assert low + (1 - low) * place / SIDE == pytest.approx(cosine[i, others].mean().item(), abs=2e-3)
        nearer = last[f"dot {i}"].x + last[f"dot {i}"].y > SIDE - 1
        assert nearer == (label == 0), "each sense has its side of the diagonal"


test_wrong_arguments_of_a_film_are_named = refuses(
    (lambda: masking_film(TOKENS, SCORES[:2], 4), r"scores must have shape \(4, 4\)"),
    (lambda: gradient_film(WORDS_4, GUESS, "lua"), "target must be one of o, sol, .* got 'lua'"),
    (lambda: gradient_film(WORDS_4, GUESS[:2], "sol"), "probabilities must be one for each word, 5, got 2"),
)


# --- the player ---------------------------------------------------------------------------------------------


def test_a_film_plays_to_its_end_pauses_and_starts_again(page, show):
    [played] = show(made())
    played.choose("Ritmo", label="depressa")
    play = played.panel.locator(".cw-play")
    play.click()
    expect(play).to_have_text("❚❚ Pausar")
    for step in (1, 2):
        played.state = step
        assert played.differences() == []
    expect(play).to_have_text("▶ Tocar")
    play.click()  # from the end, again from the beginning
    played.state = 0
    assert played.wrong() == [] or played.read()["place"] != "passo 2 de 2"
    play.click()
    expect(play).to_have_text("▶ Tocar")
    assert not page.problems


def test_a_step_by_hand_stops_what_plays(page, show):
    [played] = show(made())
    play = played.panel.locator(".cw-play")
    play.click()
    played.panel.get_by_role("button", name="Próximo passo").click()
    expect(play).to_have_text("▶ Tocar")
    played.state = 1
    assert played.differences() == []


def test_nothing_plays_before_it_is_asked_and_less_motion_means_none(new_page, show):
    page = new_page(fresh=True)
    moved = "() => getComputedStyle(document.querySelector('.cw-item')).transitionDuration"
    [played] = show(made(), on=page)
    assert page.evaluate(moved) == "0s"
    expect(played.panel.locator(".cw-play")).to_have_text("▶ Tocar")
    page.emulate_media(reduced_motion="no-preference")
    assert_becomes(page, lambda: "0.6s" in page.evaluate(moved), True)
    assert played.differences() == []
