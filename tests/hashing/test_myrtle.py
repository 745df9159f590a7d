"""The Myrtle network and its training: torch's own layers, a ridge regression, seeds."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from lowdim.hashing.myrtle import Myrtle, fit


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("side", "pools", "left"), [(32, 4, 1), (28, 2, 7), (8, 2, 2), (8, 0, 8)])
def test_what_poolings_leave(side: int, pools: int, left: int) -> None:
    net = Myrtle(side=side, channels=3, width=2, pools=pools)
    R = net.represent(normal(2, 3, side, side))
    assert R.shape == (2, 16 * left * left)
    assert torch.equal(net.head(R), net(normal(2, 3, side, side)))


def test_layers_are_torch_s() -> None:
    net = Myrtle(side=8, channels=1, width=2, pools=3).eval()
    H = normal(4, 1, 8, 8)
    wanted = H
    for k in range(4):
        wanted = F.relu(net.norms[k](net.convolutions[k](wanted)))
        wanted = wanted if k == 0 else F.max_pool2d(wanted, 2)
    assert torch.equal(net.represent(H), wanted.flatten(1))
    assert [c.out_channels for c in net.convolutions] == [2, 4, 8, 16]


def test_weights_come_from_the_seed_alone() -> None:
    torch.manual_seed(1)
    a = Myrtle(side=8, channels=1, width=2, pools=2, seed=5)
    torch.manual_seed(2)
    b = Myrtle(side=8, channels=1, width=2, pools=2, seed=5)
    c = Myrtle(side=8, channels=1, width=2, pools=2, seed=6)
    same = [torch.equal(p, q) for p, q in zip(a.parameters(), b.parameters(), strict=True)]
    assert all(same)
    assert not torch.equal(a.head.weight, c.head.weight)
    assert float(a.convolutions[1].weight.detach().abs().max()) <= (2 * 9) ** -0.5


def test_features_scale_and_outputs_do_not_care() -> None:
    """Positive factors pass through normalization's scale, the ReLU and the pooling."""
    net = Myrtle(side=8, channels=1, width=2, pools=2).eval()
    X = normal(5, 1, 8, 8)
    before, R = net(X), net.represent(X)
    factor = torch.linspace(0.5, 2, 16)
    with torch.no_grad():
        net.norms[3].weight.mul_(factor)
        net.norms[3].bias.mul_(factor)
        net.head.weight.div_(factor.repeat_interleave(4))
    assert torch.allclose(net.represent(X), R * factor.repeat_interleave(4), atol=1e-6)
    assert torch.allclose(net(X), before, atol=1e-5)


class _Linear(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.map = torch.nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.map(x)


def test_a_linear_map_reaches_ridge_regression() -> None:
    """Full batches, squared loss: the stationary point is known, and biases are not penalized."""
    X, y = normal(30, 3), torch.arange(30) % 2
    net, lam = _Linear(), 0.3
    fit(net, X, y, epochs=1500, batch=30, rate=0.05, drop=1.0, decay=lam, loss="square")
    Y = F.one_hot(y, 2).float()
    x, t = X - X.mean(0), Y - Y.mean(0)
    W = torch.linalg.solve(x.T @ x / 30 + lam / 2 * torch.eye(3), x.T @ t / 30).T
    assert torch.allclose(net.map.weight, W, atol=1e-4)
    assert torch.allclose(net.map.bias, Y.mean(0) - W @ X.mean(0), atol=1e-4)


def test_training_repeats_and_says_when_it_diverges() -> None:
    X, y = normal(20, 1, 4, 4), torch.arange(20) % 2
    runs = []
    for _ in range(2):
        net = Myrtle(side=4, channels=1, width=2, classes=2, pools=1, seed=3)
        runs.append(fit(net, X, y, epochs=3, batch=8, seed=1).loss)
    assert runs[0] == runs[1]
    net = Myrtle(side=4, channels=1, width=2, classes=2, pools=1, normalize=False)
    assert fit(net, 1e3 * X, y, epochs=50, rate=1e3, loss="square").diverged


def test_refusals() -> None:
    with pytest.raises(ValueError, match="poolings do not fit"):
        Myrtle(side=8, channels=1, width=2, pools=4)
    with pytest.raises(ValueError, match="loss must be one of"):
        fit(_Linear(), normal(4, 3), torch.arange(4) % 2, epochs=1, loss="hinge")
    with pytest.raises(ValueError, match="decay 0 or more"):
        fit(_Linear(), normal(4, 3), torch.arange(4) % 2, epochs=1, decay=-1.0)
