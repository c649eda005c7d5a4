"""Anisotropy, standardising and projection, against what they are defined as."""

import pytest
import torch
from hypothesis import given

from lib.geometry import anisotropy, contributions, cosine, project, standardize
from tests.randomness import SEEDS, normal, seeded
from tests.refusals import refuses


@given(SEEDS)
def test_anisotropy_is_the_mean_cosine_of_pairs_from_different_contexts(seed):
    x = normal(seed, 12, 5)
    contexts = torch.randint(4, (len(x),), generator=seeded(seed))
    contexts[:2] = torch.tensor([0, 1])
    cosines = torch.cosine_similarity(x[:, None], x[None], dim=-1)
    assert anisotropy(x, contexts) == pytest.approx(cosines[contexts[:, None] != contexts].mean().item())


@pytest.mark.guards("05.s40")
@given(SEEDS)
def test_contributions_add_up_and_find_the_rogue_dimension(seed):
    x = normal(seed, 12, 5)
    x[:, 3] += 20
    parts = contributions(x)
    assert parts.sum().item() == pytest.approx(anisotropy(x))
    assert parts.argmax() == 3 and parts[3] > 0.8 * parts.sum()


@given(SEEDS)
def test_length_does_not_matter_to_a_cosine(seed):
    a, b = normal(seed, 2, 5)
    torch.testing.assert_close(cosine(3 * a, b), cosine(a, b))
    assert cosine(a, -a).item() == pytest.approx(-1)


def test_a_reference_gives_the_mean_and_the_deviation():
    reference = torch.tensor([[0.0, 0.0], [2.0, 20.0]])
    found = standardize(torch.tensor([[3.0, 10.0]]), reference)
    torch.testing.assert_close(found, torch.tensor([[2.0, 0.0]]).double())


@given(SEEDS)
def test_projection_keeps_distances_when_nothing_is_dropped_and_repeats(seed):
    x = normal(seed, 6, 3)
    p = project(x, 3)
    torch.testing.assert_close(torch.cdist(p, p), torch.cdist(x, x))
    torch.testing.assert_close(project(x, 2), p[:, :2])
    torch.testing.assert_close(project(x - 5.0, 2), p[:, :2])


def test_projection_takes_the_axis_of_most_variance_first():
    x = normal(0, 200, 3) * torch.tensor([1.0, 10.0, 3.0])
    p = project(x, 2)
    assert torch.corrcoef(torch.stack([p[:, 0], x[:, 1]])).abs()[0, 1] > 0.99
    assert p[:, 0].std() > p[:, 1].std()


test_what_has_no_geometry_is_refused = refuses(
    (lambda: anisotropy(torch.zeros(3, 2)), "zero vector"),
    (lambda: anisotropy(torch.ones(3)), r"\(M, d\)"),
    (lambda: anisotropy(torch.ones(3, 2), torch.zeros(3)), "at least two"),
    (lambda: anisotropy(torch.ones(3, 2), torch.arange(2)), "one per vector"),
    (lambda: anisotropy(torch.full((3, 2), torch.nan)), "finite"),
    (lambda: cosine(torch.ones(2), torch.ones(3)), "as many dimensions"),
    (lambda: standardize(torch.ones(4, 2)), "2 of 2 are constant"),
    (lambda: project(torch.ones(4, 2), 3), "between 1 and 2, got 3"),
)
test_integers_are_no_vectors = refuses(
    (lambda: anisotropy(torch.ones(3, 2).long()), "floating-point"), error=TypeError
)
