"""The tied table gives the gradients that autograd gives, whatever part of the graph is asked for."""

import pytest
import torch
from torch.nn import functional as F

from lib.training.tied import TiedTable
from tests.randomness import normal

V, D = 7, 3


def step(read, loss, E, ids):
    W = torch.linspace(-1, 1, D * D, dtype=torch.float64).view(D, D).requires_grad_()
    b = torch.linspace(0, 1, V, dtype=torch.float64).requires_grad_()
    labels = torch.arange(ids.numel()) % V
    return loss(torch.tanh(read(ids) @ W).flatten(0, -2), b, labels), [E, W, b]


def plain(E, ids, pad):
    return step(lambda i: F.embedding(i, E, pad), lambda t, b, y: summed(F.linear(t, E, b), y), E, ids)


def summed(scores, labels):
    return F.cross_entropy(scores, labels, reduction="sum")


def tied(E, ids, pad):
    table = TiedTable(E, pad)
    return step(table.read, table.loss, E, ids)


def weights(trained=True):
    return normal(0, V, D).requires_grad_(trained)


@pytest.mark.parametrize("pad", [None, 0])
@pytest.mark.parametrize("shape", [(5,), (2, 4), (1, 2, 3)])
def test_loss_and_gradients_are_those_of_autograd(pad, shape):
    ids = torch.arange(torch.Size(shape).numel()).view(shape) % 4  # repeated rows, padding and unread rows
    E = weights()
    (expected, parameters), (loss, others) = plain(E, ids, pad), tied(E, ids, pad)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-14)
    want, got = torch.autograd.grad(expected, parameters), torch.autograd.grad(loss, others)
    torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-14)


@pytest.mark.guards("05.s30")
def test_gradients_are_added_to_those_already_there():
    E, ids = weights(), torch.tensor([1, 2, 1])
    loss, _ = tied(E, ids, None)
    loss.backward(retain_graph=True)
    once = E.grad.clone()
    loss.backward()
    torch.testing.assert_close(E.grad, 2 * once)


def test_the_gradient_has_the_size_of_the_loss_it_came_from():
    E, ids = weights(), torch.tensor([1, 2, 1])
    (loss, parameters), (thrice, others) = tied(E, ids, 0), tied(E, ids, 0)
    once = torch.autograd.grad(loss, parameters)
    torch.testing.assert_close(torch.autograd.grad(3 * thrice, others), tuple(3 * g for g in once))


def test_a_table_that_was_read_without_gradients_still_gets_the_gradient_of_the_scores():
    E, b, labels = weights(), torch.zeros(V, dtype=torch.float64), torch.tensor([3, 4])
    table = TiedTable(E, None)
    with torch.no_grad():
        t = table.read(torch.tensor([1, 2]))
    table.loss(t, b, labels).backward()
    want = torch.autograd.grad(summed(F.linear(t, E, b), labels), E)[0]
    torch.testing.assert_close(E.grad, want)


def test_a_table_that_was_only_read_gets_the_gradient_of_the_rows():
    E = weights()
    TiedTable(E, 0).read(torch.tensor([0, 1, 1])).sum().backward()
    assert E.grad.sum(1).tolist() == [0, 2 * D, 0, 0, 0, 0, 0]


def test_a_frozen_table_gets_no_gradient():
    E = weights(trained=False)
    loss, (_, W, b) = tied(E, torch.tensor([1, 2, 3]), None)
    loss.backward()
    assert E.grad is None
    assert W.grad.abs().sum() > 0 and b.grad.abs().sum() > 0


def test_no_label_is_no_loss_and_no_gradient():
    E, b = weights(), torch.zeros(V, dtype=torch.float64)
    table = TiedTable(E, None)
    none_of_them = table.read(torch.tensor([1, 2]))[:0]
    loss = table.loss(none_of_them, b, torch.empty(0, dtype=torch.long))
    loss.backward()
    assert loss.item() == 0 and E.grad.abs().sum() == 0


def test_nothing_is_copied():
    """What `loss` computes for the table is, in the end, the very memory of the gradient."""
    E, seen = weights(), []
    table = TiedTable(E, None)
    t = table.read(torch.tensor([1, 2])).tanh()
    t.register_hook(lambda grad: seen.append(table.gradient.data_ptr()))
    table.loss(t, torch.zeros(V, dtype=torch.float64), torch.tensor([3, 4])).backward()
    assert seen == [E.grad.data_ptr()]
