"""Losses: residuals are gradients by autograd, sizes are losses of answers that know nothing."""

from __future__ import annotations

import pytest
import torch
from lowdim.nets import losses


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


ROOT = normal(5, 5, seed=9)
EVERY = [losses.Square(), losses.Entropy(), losses.Quadratic(ROOT @ ROOT.T)]


def some(loss: losses.Loss) -> tuple[torch.Tensor, torch.Tensor]:
    F, Y = normal(3, 4, 5), normal(3, 4, 5, seed=1)
    # weighted columns: what is charged for a sample need not sum to one
    return F, Y.softmax(1) * normal(3, 1, 5, seed=2).exp() if loss.name == "entropy" else Y


@pytest.mark.parametrize("loss", EVERY, ids=lambda loss: loss.name)
def test_the_residual_is_the_gradient_but_for_its_factor(loss: losses.Loss) -> None:
    F, Y = some(loss)
    free = F.clone().requires_grad_()
    value = loss.value(free, Y)
    (by,) = torch.autograd.grad(value.sum(), free)
    for out in (torch.empty_like(F), F):  # the last time in place
        told = loss.residual(F, Y, out)
        torch.testing.assert_close(loss.factor * out, by)
        wanted = out.square().sum((1, 2)) if told is None else told
        torch.testing.assert_close(wanted, value.detach())


def test_values_are_those_of_torch() -> None:
    F, Y = normal(3, 4, 5), normal(3, 4, 5, seed=1)
    classes = Y.argmax(1)
    hot = torch.nn.functional.one_hot(classes, 4).mT.double()
    for t in range(3):
        square = torch.nn.functional.mse_loss(F[t], Y[t], reduction="sum")
        entropy = torch.nn.functional.cross_entropy(F[t].T, classes[t], reduction="sum")
        torch.testing.assert_close(losses.Square().value(F, Y)[t], square)
        torch.testing.assert_close(losses.Entropy().value(F, hot)[t], entropy)
    # a linear network that is known by second moments: ½‖WX‖² - ⟨G, WX⟩ up to a constant
    A, X = ROOT @ ROOT.T, normal(5, 7, seed=4)
    moments = losses.Quadratic(X @ X.T)
    W, G = normal(1, 2, 5), normal(1, 2, 7, seed=5)
    direct = ((W @ X - G).square().sum() - G.square().sum()) / 2
    torch.testing.assert_close(moments.value(W, G @ X.T), direct[None])
    assert losses.Quadratic(A).value(0 * F[:1], Y[:1]).item() == 0


def test_sizes_are_losses_of_answers_that_know_nothing() -> None:
    F, Y = some(losses.Entropy())
    for loss in EVERY[:2]:
        torch.testing.assert_close(loss.size(Y), loss.value(0 * F, Y))
        assert loss.size(Y.float()).dtype == torch.float64
    one = losses.Entropy().size(torch.ones(1, 1, 6))  # a single class would cost nothing
    assert one.item() == pytest.approx(6 * torch.tensor(2.0).log().item())
    A = EVERY[2].moments
    both = torch.cat([Y.flatten(1), A.flatten().expand(3, -1)], 1)
    torch.testing.assert_close(EVERY[2].size(Y), both.norm(dim=1) ** 2)


def test_normalizations_turn_sums_into_means() -> None:
    E = normal(4, 5)
    found = {name: losses.coefficient(name, 5, 4) for name in losses.NORMALIZATIONS}
    assert found["sum"] == 1 and found["half"] == found["sample"] / 2
    assert float(E.square().mean()) == pytest.approx(float(E.square().sum()) * found["mean"])
    assert float(E.square().sum(0).mean()) == pytest.approx(
        float(E.square().sum()) * found["sample"]
    )
    with pytest.raises(ValueError, match="'sum', 'sample', 'mean', 'half'; you gave 'third'"):
        losses.coefficient("third", 5, 4)


def test_losses_go_by_their_names() -> None:
    assert [losses.named(name).name for name in losses.LOSSES] == ["square", "entropy"]
    assert losses.named(EVERY[2]) is EVERY[2]
    with pytest.raises(ValueError, match="'square', 'entropy'; you gave 'hinge'"):
        losses.named("hinge")
