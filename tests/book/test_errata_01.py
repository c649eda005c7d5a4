"""What the first document gets wrong, shown to be wrong: each test is the guard of an entry of the errata."""

import math

import numpy as np
import pytest
import torch

from lib.attention import additive, attention, causal_mask, softmax
from lib.sources import example
from tests.randomness import seeded

S = torch.tensor(example("01.1").inputs["pontuacoes"], dtype=torch.float64)
M = additive(causal_mask(3), torch.float64)


def printed(id, figure):
    return np.array(example(id).figures[figure].content, dtype=float)


@pytest.mark.guards("01.s3", "03.s14")
def test_a_layer_copies_whatever_token_it_may_see_so_that_token_cannot_be_the_target():
    n = 5
    tokens, later = torch.eye(n), torch.arange(1, n)
    present, _ = attention(50 * tokens, tokens, tokens, causal_mask(n))
    torch.testing.assert_close(present, tokens, msg="the present is visible under the mask")
    of_next = 50 * tokens.roll(1, 1)  # the query of i is the key of i + 1
    free, masked = (attention(of_next, tokens, tokens, mask)[0].argmax(-1) for mask in (None, causal_mask(n)))
    assert torch.equal(free[:-1], later) and not (masked[:-1] == later).any(), "only without it the next is"


@pytest.mark.guards("01.s7", "01.s13")
def test_the_listings_are_not_what_numpy_prints():
    first_line = {name: str(printed("01.1", name)).splitlines()[0] for name in ("mascara", "mascaradas")}
    assert first_line["mascaradas"] == "[[  1. -inf -inf]" and first_line["mascara"] != "[[ 0. -inf -inf]"
    for id in ("01.3", "01.4"):
        assert all("e" in x for row in example(id).figures["pesos"].content for x in row)
        assert "e" not in str(printed(id, "pesos")), "numpy would not choose scientific notation"


@pytest.mark.guards("01.s11", "01.s12", "01.s29", "01.s30")
def test_the_square_root_belongs_inside_the_softmax_and_is_missing_in_the_third_example():
    right, without = softmax((S + M) / math.sqrt(2)), softmax(S + M)
    torch.testing.assert_close(right.sum(-1), without.sum(-1))
    assert not torch.allclose(right, without), "with and without it the rows add up to one, and differ"
    shares = torch.full((3,), 1 / math.sqrt(2), dtype=torch.float64)
    torch.testing.assert_close((without / math.sqrt(2)).sum(-1), shares, msg="outside: no distribution")
    document = printed("01.3", "pesos")
    np.testing.assert_allclose(document[1], without[1], atol=5e-10)
    assert abs(document[1] - right[1].numpy()).max() > 0.06
    torch.testing.assert_close(right[2, 1] / right[2, 0], right[2, 2] / right[2, 1], msg="equal gaps")
    assert abs(document[2, 1] / document[2, 0] - document[2, 2] / document[2, 1]) > 1


@pytest.mark.guards("01.s15")
def test_rows_that_add_up_to_one_may_all_be_wrong():
    document = printed("01.4", "pesos")
    np.testing.assert_allclose(document.sum(-1), 1, atol=1e-8)
    scores = torch.tensor(example("01.4").inputs["mascaradas"], dtype=torch.float64)
    right = softmax(scores / math.sqrt(example("01.4").inputs["d_k"])).numpy()
    assert (abs(document - right).max(-1) > 0.05).tolist() == [False, True, True, True, True]


@pytest.mark.guards("01.s16")
def test_the_parcels_of_the_sum_are_cut_not_rounded():
    exact, shown = printed("01.4", "pesos")[2][:3], printed("01.4", "terceira_linha")
    for parcel, value in zip(shown[:2], exact[:2], strict=True):
        assert parcel == math.floor(value * 1e4) / 1e4 != round(value, 4)
    assert round(shown.sum(), 4) == 0.9998


@pytest.mark.guards("01.s18")
def test_the_mask_alone_does_not_make_a_network_causal():
    """A layer that mixes positions leaks the future, whatever the mask: the theorem needs its hypothesis."""
    x = torch.randn(4, 3, generator=seeded())
    other = x.clone()
    other[-1] += 1

    def network(x):
        return attention(x, x, x, causal_mask(4))[0] - x.mean(0)  # centring over positions

    assert not torch.equal(network(x)[0], network(other)[0])


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


@pytest.mark.guards("01.s8", "01.s10")
def test_the_second_diagram_forgets_a_hidden_relation_and_numbers_arrows_that_do_not_exist():
    tokens, allowed = example("01.2").inputs["tokens"], causal_mask(4)
    hidden = {f"{tokens[j]}_{tokens[i]}" for i in range(4) for j in range(4) if not allowed[i, j]}
    drawn = example("01.2").figures
    assert hidden - set(drawn["relacoes_apagadas"].content) == {"D_C"}
    assert len(drawn["setas_numeradas"].content) == 14 > int(allowed.sum()) == 10
