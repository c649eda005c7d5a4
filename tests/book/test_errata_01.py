"""What the first document gets wrong, shown to be wrong: each test is the guard of an entry of the errata."""

import math

import numpy as np
import pytest
import torch

from lib.attention import additive, attention, causal_mask, softmax
from lib.experiments.wrong_masks import losses_on_noise, mistaken_weights
from lib.sources import CORRECTED, compare, example

S = torch.tensor(example("01.1").inputs["pontuacoes"], dtype=torch.float64)
M = additive(causal_mask(3), torch.float64)


def printed(id, figure):
    return np.array(example(id).figures[figure].content, dtype=float)


@pytest.mark.guards("01.s1")
def test_a_score_is_not_an_amount_of_attention():
    assert S.max() > 1, "a score is not a share"
    assert not torch.allclose(S.sum(-1), torch.ones(3, dtype=torch.float64))
    torch.testing.assert_close(
        softmax(S + 100), softmax(S), msg="a common shift changes scores, not attention"
    )


@pytest.mark.guards("01.s2")
def test_a_token_attends_to_itself():
    a = softmax(S + M)
    assert (a.diagonal() > 0).all() and a[0, 0] == 1


@pytest.mark.guards("01.s4")
def test_hiding_the_diagonal_leaves_the_first_token_with_nothing():
    strict = M.masked_fill(torch.eye(3).bool(), -math.inf)
    assert torch.softmax(S + strict, -1)[0].isnan().all(), "the plain softmax divides zero by zero"
    assert (mistaken_weights("diagonal", S)[0] == 0).all()


@pytest.mark.guards("01.s5")
def test_a_score_of_zero_is_not_a_weight_of_zero():
    future = ~causal_mask(3)
    assert (mistaken_weights("zerada", S)[future] > 0).all()
    assert (softmax(S + M)[future] == 0).all()


@pytest.mark.guards("01.s3")
def test_the_target_is_the_next_token_not_the_present_one():
    """A causal layer may copy its own input: predicting the present needs no future and teaches nothing."""
    present = torch.eye(4)
    h, _ = attention(50 * present, present, present, causal_mask(4))
    assert torch.allclose(h, present, atol=1e-6), "the present token is visible, so it cannot be the target"


@pytest.mark.guards("01.s7")
@pytest.mark.parametrize("figure", ["mascara", "mascaradas"])
def test_the_listing_of_the_first_example_is_not_what_numpy_prints(figure):
    document = {"mascara": "[[ 0. -inf -inf]", "mascaradas": "[[  1. -inf -inf]"}[figure]
    first_line = str(printed("01.1", figure)).splitlines()[0]
    assert (first_line == document) == (figure == "mascaradas")


@pytest.mark.guards("01.s13")
@pytest.mark.parametrize("id", ["01.3", "01.4"])
def test_numpy_would_not_print_these_weights_in_scientific_notation(id):
    assert all("e" in x for row in example(id).figures["pesos"].content for x in row)
    assert "e" not in str(printed(id, "pesos")), "so the listing was not produced by running the code"


@pytest.mark.guards("01.s11")
def test_the_second_row_of_the_third_example_lacks_the_division_by_the_square_root():
    row = printed("01.3", "pesos")[1]
    np.testing.assert_allclose(row, softmax(S + M)[1], atol=5e-10)
    assert abs(row - softmax((S + M) / math.sqrt(2))[1].numpy()).max() > 0.06


@pytest.mark.guards("01.s29")
def test_dividing_after_the_softmax_gives_no_distribution():
    after = softmax(S + M) / math.sqrt(2)
    torch.testing.assert_close(after.sum(-1), torch.full((3,), 1 / math.sqrt(2), dtype=torch.float64))


@pytest.mark.guards("01.s30")
def test_with_and_without_the_square_root_the_rows_are_stochastic_but_differ():
    with_root, without = softmax((S + M) / math.sqrt(2)), softmax(S + M)
    torch.testing.assert_close(with_root.sum(-1), without.sum(-1))
    assert not torch.allclose(with_root, without)


@pytest.mark.guards("01.s12")
def test_equal_gaps_give_equal_ratios_but_not_in_the_document():
    def ratios(row):
        return row[1:] / row[:-1]

    right = ratios(softmax((S + M) / math.sqrt(2))[2])
    assert torch.isclose(right[0], right[1])
    first, second = ratios(printed("01.3", "pesos")[2])
    assert abs(first - second) > 1


@pytest.mark.guards("01.s15")
def test_rows_that_add_up_to_one_may_all_be_wrong():
    document = printed("01.4", "pesos")
    np.testing.assert_allclose(document.sum(-1), 1, atol=1e-8)
    scores = torch.tensor(example("01.4").inputs["mascaradas"], dtype=torch.float64)
    right = softmax(scores / math.sqrt(example("01.4").inputs["d_k"])).numpy()
    assert (abs(document - right).max(-1) > 0.05).tolist() == [False, True, True, True, True]


@pytest.mark.guards("01.s17")
def test_row_sums_say_nothing_about_causality():
    for kind in ("esquecida", "zerada"):
        a = mistaken_weights(kind, S)
        torch.testing.assert_close(a.sum(-1), torch.ones(3, dtype=torch.float64))
        assert (a[~causal_mask(3)] > 0).all()


@pytest.mark.guards("01.s16")
def test_the_parcels_of_the_sum_are_cut_not_rounded():
    exact, shown = printed("01.4", "pesos")[2][:3], printed("01.4", "terceira_linha")
    assert shown[0] == math.floor(exact[0] * 1e4) / 1e4 != round(exact[0], 4)
    assert round(shown.sum(), 4) == 0.9998


@pytest.mark.guards("01.s14")
def test_influence_goes_from_the_first_token_to_all_others():
    a = softmax(S + M)
    assert (a[:, 0] > 0).all(), "column: the first token influences every token"
    assert a[0].tolist() == [1, 0, 0], "row: it is influenced by itself alone"


@pytest.mark.guards("01.s18")
def test_the_mask_alone_does_not_make_a_network_causal():
    """A layer that mixes positions leaks the future, whatever the mask: the theorem needs its hypothesis."""
    x = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    other = x.clone()
    other[-1] += 1

    def network(x):
        return attention(x, x, x, causal_mask(4))[0] - x.mean(0)  # centring over positions

    assert not torch.equal(network(x)[0], network(other)[0])


@pytest.mark.guards("01.s21")
def test_the_mask_discards_context_not_data():
    """With N tokens there are N - 1 targets, each seen once as context too, masked or not."""
    n = 6
    seen_as_context = causal_mask(n)[:-1].any(0)
    assert seen_as_context[:-1].all() and len(seen_as_context[:-1]) == n - 1


def test_an_unmasked_model_does_not_generalise_it_copies():
    assert losses_on_noise(masked=False, steps=60)[-1] < 0.5 * math.log(8)


@pytest.mark.guards("01.s23")
def test_a_base_of_ones_does_not_give_the_mask():
    i = torch.arange(3)
    from_ones = torch.ones(3, 3).masked_fill(i[None, :] > i[:, None], -math.inf)
    assert not torch.equal(from_ones, additive(causal_mask(3)))
    # The softmax forgives it, because a row's common shift cancels: that is why nobody notices.
    torch.testing.assert_close(softmax(S + from_ones), softmax(S + M))


@pytest.mark.guards("01.s24")
def test_repeating_a_repeated_index_gives_the_wrong_number_of_columns():
    n = 3
    u = torch.arange(n).repeat_interleave(n)  # "the row index repeated N times"
    assert u.repeat(n, 1).shape == (n, n * n), "the document then repeats it N times more"


@pytest.mark.guards("01.s25")
def test_weights_fill_the_closed_interval():
    a = softmax(S + M)
    assert a.min() == 0 and a.max() == 1


@pytest.mark.guards("01.s26")
def test_positions_are_counted_from_one_in_the_text_and_from_zero_in_the_proof():
    one = [[j <= i for j in range(1, 4)] for i in range(1, 4)]
    assert causal_mask(3).tolist() == one, "the mask is the same: only differences of indices matter"


@pytest.mark.guards("01.s8", "01.s10")
def test_the_second_diagram_forgets_a_hidden_relation_and_numbers_arrows_that_do_not_exist():
    tokens, allowed = example("01.2").inputs["tokens"], causal_mask(4)
    hidden = {f"{tokens[j]}_{tokens[i]}" for i in range(4) for j in range(4) if not allowed[i, j]}
    drawn = example("01.2").figures
    assert hidden - set(drawn["relacoes_apagadas"].content) == {"D_C"}
    assert len(drawn["setas_numeradas"].content) == 14 > int(allowed.sum()) == 10


@pytest.mark.guards("01.s9")
def test_mermaid_refuses_to_style_arrows_that_do_not_exist(page, book_url):
    page.goto(f"{book_url}/book/intro.html")
    page.add_script_tag(path="book/_static/vendor/bundles/mermaid.js")
    tokens = example("01.2").inputs["tokens"]
    arrows = [f"{t}[{t}] --> {u}_{t}({u})" for i, t in enumerate(tokens) for u in tokens[: i + 1]]
    numbered = ",".join(example("01.2").figures["setas_numeradas"].content)
    draw = """async (text) => {
        try { await mermaid.render("figura", text); return "drawn" } catch (error) { return String(error) }
    }"""
    style = "stroke:#ddd,stroke-width:1px"
    assert page.evaluate(draw, "\n".join(["graph LR", *arrows, f"linkStyle 0,9 {style}"])) == "drawn"
    refusal = page.evaluate(draw, "\n".join(["graph LR", *arrows, f"linkStyle {numbered} {style}"]))
    assert "Error" in refusal, "mermaid drew a style for arrows 10 to 13 of a diagram with ten arrows"


@pytest.mark.parametrize("id", ["01.3", "01.4"])
def test_the_printed_weights_are_corrected(id):
    data = example(id).inputs
    s = torch.tensor(data.get("mascaradas", S.tolist()), dtype=torch.float64)
    weights = softmax((s + additive(causal_mask(len(s)), torch.float64)) / math.sqrt(data["d_k"]))
    assert compare(id, pesos=weights).verdict == CORRECTED
