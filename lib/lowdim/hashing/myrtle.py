"""The five-layer Myrtle network: four 3×3 convolutions of widths c, 2c, 4c, 8c, one linear map.

Each convolution is followed by batch normalization (or not) and the ReLU; max-pooling by 2 follows
the second, third and fourth, and by 4 the last of these. ``pools`` says how many of those four
poolings are kept, in order: 4 for CIFAR-10; for MNIST the paper of Part IV removes the last two.
The representation is what enters the linear map.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lowdim import checks
from lowdim.seeds import generator

LOSSES = ("entropy", "square")
POOLS = (2, 2, 2, 4)


class Myrtle(nn.Module):
    """Images (N, channels, side, side) in, scores (N, classes) out.

    Weights start as torch's own do (uniform on ±1/√fan_in), drawn from ``seed`` alone.

    Raises
    ------
    ValueError
        If a count is out of range or the poolings do not fit into the image.

    Examples
    --------
    >>> net = Myrtle(side=8, channels=1, width=2, pools=2)
    >>> net.represent(torch.zeros(3, 1, 8, 8)).shape, net(torch.zeros(3, 1, 8, 8)).shape
    (torch.Size([3, 64]), torch.Size([3, 10]))
    """

    def __init__(
        self,
        *,
        side: int,
        channels: int,
        width: int,
        classes: int = 10,
        pools: int = 4,
        normalize: bool = True,
        seed: int = 0,
    ) -> None:
        super().__init__()
        for name, value in (("channels", channels), ("width", width), ("classes", classes)):
            checks.whole(value, name, 1)
        checks.choice(pools, range(len(POOLS) + 1), "pools")
        for pool in POOLS[:pools]:
            side //= pool
        if side < 1:
            raise ValueError(f"{pools} poolings do not fit into an image of that side.")
        widths = (channels, width, 2 * width, 4 * width, 8 * width)
        pairs = list(pairwise(widths))
        self.convolutions = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1) for a, b in pairs)
        kind = nn.BatchNorm2d if normalize else (lambda _: nn.Identity())
        self.norms = nn.ModuleList(kind(b) for _, b in pairs)
        self.pools = pools
        self.head = nn.Linear(widths[-1] * side * side, classes)
        rng = generator(seed, 0, "myrtle")
        with torch.no_grad():
            for layer in (*self.convolutions, self.head):
                size = layer.weight[0].numel() ** -0.5
                for tensor in (layer.weight, layer.bias):
                    tensor.copy_(torch.from_numpy(rng.uniform(-size, size, tuple(tensor.shape))))

    def represent(self, images: Tensor) -> Tensor:
        """What enters the last linear map, (N, p)."""
        H = images
        for k, (conv, norm) in enumerate(zip(self.convolutions, self.norms, strict=True)):
            H = torch.relu(norm(conv(H)))
            if 1 <= k <= self.pools:
                H = F.max_pool2d(H, 2)
        if self.pools == 4:
            H = F.max_pool2d(H, 4)
        return H.flatten(1)

    def forward(self, images: Tensor) -> Tensor:
        return self.head(self.represent(images))


@dataclass(frozen=True)
class Fitted:
    """loss: mean training loss of each epoch, without penalty; diverged: whether it blew up."""

    loss: tuple[float, ...]
    diverged: bool


def fit(
    net: nn.Module,
    images: Tensor,
    labels: Tensor,
    *,
    epochs: int,
    rate: float = 0.1,
    drop: float = 1 / 3,
    batch: int = 128,
    decay: float = 0.0,
    loss: str = "entropy",
    seed: int = 0,
) -> Fitted:
    r"""Plain SGD on loss + (decay/2) · squares of all weights but the biases; ``net`` is changed.

    The rate is divided by ten after the share ``drop`` of the epochs. The loss of an image is the
    cross-entropy, or :math:`\|f(x)-y\|^2` with a one-hot y. The last batch of an epoch is left out
    if it holds a single image.

    Raises
    ------
    ValueError
        If a number is out of range or ``loss`` is unknown.

    Examples
    --------
    >>> net = Myrtle(side=4, channels=1, width=2, classes=2, pools=1)
    >>> images = torch.cat([torch.zeros(8, 1, 4, 4), torch.ones(8, 1, 4, 4)])
    >>> run = fit(net, images, torch.arange(16) // 8, epochs=20, batch=8)
    >>> run.diverged, run.loss[-1] < 0.1
    (False, True)
    """
    checks.choice(loss, LOSSES, "loss")
    checks.whole(epochs, "epochs", 1)
    checks.whole(batch, "batch", 2)
    if not (rate > 0 and decay >= 0 and 0 < drop <= 1):
        raise ValueError(
            "rate must be above 0, decay 0 or more and drop above 0 and up to 1; "
            f"you gave {rate}, {decay} and {drop}."
        )
    weights = [p for p in net.parameters() if p.ndim > 1]
    others = [p for p in net.parameters() if p.ndim <= 1]
    groups = [{"params": weights, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.SGD(groups, lr=rate)
    rng = generator(seed, 0, "myrtle batches")
    history: list[float] = []
    net.train()
    for epoch in range(epochs):
        for group in optimizer.param_groups:
            group["lr"] = rate if epoch < drop * epochs else rate / 10
        total, seen = 0.0, 0
        for chosen in torch.from_numpy(rng.permutation(len(images))).split(batch):
            if len(chosen) < 2:
                continue
            scores = net(images[chosen])
            if loss == "entropy":
                value = F.cross_entropy(scores, labels[chosen])
            else:
                goal = F.one_hot(labels[chosen], scores.shape[1]).to(scores.dtype)
                value = (scores - goal).square().sum(1).mean()
            if not bool(value.isfinite()):
                net.eval()
                return Fitted((*history, float("nan")), True)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            total, seen = total + float(value.detach()) * len(chosen), seen + len(chosen)
        history.append(total / seen)
    net.eval()
    return Fitted(tuple(history), False)
