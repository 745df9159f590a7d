r"""Five ReLU layers on four noisy subspaces, the experiment of the paper's Section 6 (Figure 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from lowdim.data import unions
from lowdim.linalg import subspaces
from lowdim.nets import networks, training
from lowdim.preserve import drift

__all__ = ["LAYERS", "RANK", "Drawn", "Five", "Outcome", "outcome"]

RANK, LAYERS = 16, 5


@dataclass(frozen=True)
class Drawn:
    """Data and what they show before any layer.

    star: basis (draws, n, 16) of the clean row space; distance, accuracy: of P(X) from P(X*),
    normalized, and read off P(X), means over draws.
    """

    data: unions.UnionOfSubspaces
    star: Tensor
    distance: float
    accuracy: float


@dataclass(frozen=True)
class Five:
    """Five hidden ReLU layers of size/5 units and a linear decoder, for points in R^size."""

    size: int
    seed: int = 0

    @property
    def net(self) -> networks.Dense:
        """The network."""
        widths = (self.size, *[self.size // 5] * LAYERS, self.size)
        return networks.Dense(widths, activation="relu", bias=False)

    @property
    def linear(self) -> networks.Dense:
        """The same without ReLU."""
        return networks.Dense(self.net.widths, activation="identity", bias=False)

    @property
    def closed(self) -> networks.Dense:
        """Five layers with the output, which is a ReLU layer itself."""
        widths = (self.size, *[self.size // 5] * (LAYERS - 1), self.size)
        return networks.Dense(widths, activation="relu", output="relu", bias=False)

    def draw(self, noise: float, draws: int) -> Drawn:
        """Four subspaces of dimension 4 with size/4 points each, noise of variance ``noise``.

        Examples
        --------
        >>> Five(40).draw(0.01, 1).star.shape
        torch.Size([1, 40, 16])
        """
        D = unions.union_of_subspaces(
            trials=draws,
            ambient=self.size,
            dims=(4,) * 4,
            sizes=(self.size // 4,) * 4,
            noise=noise,
            seed=self.seed,
        )
        star, X = (subspaces.principal_rows(A, RANK) for A in (D.clean, D.noisy))
        read = drift.accuracy(X, D.labels).mean().item()
        return Drawn(D, star, drift.apart(star, X).mean().item(), read)

    def untrained(self, noise: float, draws: int) -> tuple[Tensor, Tensor]:
        """Steps and drifts (5,) of the five layers with random weights, means over draws.

        Examples
        --------
        >>> step, away = Five(80).untrained(0.1, 1)
        >>> bool((step <= 1).all() and away[-1] > 0.5)
        True
        """
        drawn = self.draw(noise, draws)
        X = drawn.data.noisy
        pre, post = self.net.forward(self.net.init(trials=draws, seed=self.seed), X.float())
        found = drift.spaces(X, pre[:LAYERS], post[:LAYERS], RANK)
        return found.step().mean(0), found.drift(drawn.star).mean(0)

    def follow(
        self,
        drawn: Drawn,
        looks: Sequence[int],
        *,
        net: networks.Dense | None = None,
        rate: float = 0.02,
        loss: str = "sample",
        kind: str = "uniform",
        scale: float | None = None,
    ) -> training.Run:
        """Train until the last look and measure five layers at each; options as in ``train``.

        ``net`` is the network above unless given; ``kind`` and ``scale`` are those of its weights.

        Examples
        --------
        >>> five = Five(80)
        >>> run = five.follow(five.draw(0.1, 1), [0, 2])
        >>> run.trace["drift_output"].shape
        torch.Size([2, 1, 5])
        """
        net = self.net if net is None else net
        data = drawn.data
        asked = drift.measurements(RANK, reference=drawn.star, labels=data.labels, layers=LAYERS)
        return training.train(
            training.Objective(net, data.noisy.float(), normalization=loss),
            net.init(trials=len(data.clean), seed=self.seed, kind=kind, scale=scale),
            training.GD(rate),
            looks[-1],
            schedule=list(looks),
            measure=asked,
        )


@dataclass(frozen=True)
class Outcome:
    """Where accuracy is best, and what is seen there.

    where: the look in words; untrained, best, end: accuracy, mean over layers and draws; away:
    distance of the last layer from the clean data at the best look; level: accuracy from P(X);
    left: share (draws,) of the loss that remains, nan for a run that diverged.
    """

    where: str
    untrained: float
    best: float
    end: float
    away: float
    level: float
    left: Tensor

    @property
    def learned(self) -> bool:
        """Whether less of the loss remains than ``training.LEARNED``, at the median."""
        return bool(training.learned(self.left))

    @property
    def numbers(self) -> tuple[float, ...]:
        """Accuracies, distance, level and remaining loss, as a table shows them."""
        seen = (self.untrained, self.best, self.end, self.away)
        return (*seen, self.level, self.left.median().item())


def outcome(run: training.Run, drawn: Drawn, *, loss: str = "sample") -> Outcome:
    """What a run of :meth:`Five.follow` came to.

    Examples
    --------
    >>> five = Five(80)
    >>> drawn = five.draw(0.1, 1)
    >>> found = outcome(five.follow(drawn, [0, 2]), drawn)
    >>> found.best >= found.untrained, found.learned
    (True, False)
    """
    left = training.remaining(run.loss, drawn.data.noisy, normalization=loss)
    if bool(run.diverged.any()):
        where, nan = f"diverges, step {int(run.diverged_at.max())}", float("nan")
        return Outcome(where, nan, nan, nan, nan, drawn.accuracy, left * nan)
    found = run.trace["accuracy"].mean((1, 2))
    top = int(found.argmax())
    away = run.trace["drift_output"][top, :, -1].mean().item()
    where = f"step {run.trace_steps[top]} of {run.trace_steps[-1]}"
    seen = (found[0].item(), found[top].item(), found[-1].item())
    return Outcome(where, *seen, away, drawn.accuracy, left)
