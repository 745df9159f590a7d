r"""What a deep network does to the principal row spaces, layer by layer and along a training run.

Layer :math:`\ell` takes its input :math:`X^\ell` to :math:`W^\ell X^\ell` and then to
:math:`Y^\ell=X^{\ell+1}`. Each of these has a principal row space of dimension r. A *step* is the
distance of a layer's row space from that of the layer's own input; a *drift* is the distance from
one fixed space, such as that of the clean data. Small steps can hide a large drift, and a layer
that passes on what an earlier one destroyed has a step of zero, so both are needed.

Distances are :math:`\|P-P'\|_F/\sqrt{2r}`, so that 1 means orthogonal; unrelated spaces are
:func:`lowdim.linalg.subspaces.chance` apart in the mean square. Networks of any kind can be
measured: :func:`spaces` takes the matrices themselves, T trials at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lowdim import checks
from lowdim.linalg import clusters, subspaces
from lowdim.nets.training import State

PARTS = ("linear", "output")


def apart(U: Tensor, V: Tensor) -> Tensor:
    """Normalized distance (...) of two bases (..., n, r): 0 if equal, 1 if orthogonal.

    Examples
    --------
    >>> e = torch.eye(3, dtype=torch.float64)
    >>> round(apart(e[:, :1], e[:, 1:2]).item(), 6)
    1.0
    """
    return subspaces.distance(U, V) / (2 * U.shape[-1]) ** 0.5


@dataclass(frozen=True)
class Spaces:
    """Row spaces along a network of L layers, for T trials.

    entering: basis (T, n, r) of the network's input; linear, output: bases (L, T, n, r) of every
    layer's pre-activations and activations.
    """

    entering: Tensor
    linear: Tensor
    output: Tensor

    @property
    def depth(self) -> int:
        """The number L of layers."""
        return len(self.output)

    def step(self, part: str = "output") -> Tensor:
        """Distance (T, L) of each layer's ``part`` from the row space of that layer's own input.

        Raises
        ------
        ValueError
            If ``part`` is neither ``"linear"`` nor ``"output"``.

        Examples
        --------
        >>> X = torch.tensor([[[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]], dtype=torch.float64)
        >>> found = spaces(X, [2 * X, -X], [2 * X, 0 * X + 1], 1)
        >>> [round(d, 3) for d in found.step("linear")[0].tolist()]
        [0.0, 0.0]
        """
        before = torch.cat([self.entering[None], self.output[:-1]])
        return apart(before, self._part(part)).T

    def drift(self, reference: Tensor, part: str = "output") -> Tensor:
        """Distance (T, L) of each layer's ``part`` from one basis (T, n, r) or (n, r).

        Raises
        ------
        ValueError
            As ``step``, or if the shapes do not match.

        Examples
        --------
        >>> X = torch.eye(2, dtype=torch.float64)[None]
        >>> found = spaces(X, [X, X], [X, X], 2)
        >>> found.drift(found.entering).tolist()
        [[0.0, 0.0]]
        """
        return apart(reference.expand_as(self.entering)[None], self._part(part)).T

    def accuracy(
        self, labels: object, *, part: str = "output", seed: int = 0, groups: int | None = None
    ) -> Tensor:
        """Accuracy (T, L) of the clusters cut spectrally from each layer's projector.

        ``labels`` is (n,) or (T, n); ``groups`` is their number unless given.

        Examples
        --------
        >>> X = torch.tensor([[[1.0, 2, 0, 0], [0, 0, 1, 3]]], dtype=torch.float64)
        >>> spaces(X, [X], [X], 2).accuracy([0, 0, 1, 1]).tolist()
        [[1.0]]
        """
        return accuracy(self._part(part), labels, seed=seed, groups=groups).T

    def _part(self, part: str) -> Tensor:
        return getattr(self, checks.choice(part, PARTS, "part"))


def accuracy(bases: Tensor, labels: object, *, seed: int = 0, groups: int | None = None) -> Tensor:
    """Accuracy (...) of the clusters cut spectrally from the projectors of bases (..., n, r).

    Examples
    --------
    >>> V = torch.block_diag(torch.ones(3, 1), torch.ones(2, 1)) / torch.tensor([3**0.5, 2**0.5])
    >>> accuracy(V, [0, 0, 0, 1, 1]).item()
    1.0
    """
    truth = torch.as_tensor(labels)
    count = int(truth.unique().numel()) if groups is None else groups
    found = clusters.spectral(bases, count, seed=seed)
    return torch.as_tensor(clusters.accuracy(found, truth.numpy()))


def spaces(X: Tensor, linear: Sequence[Tensor], output: Sequence[Tensor], r: int) -> Spaces:
    """Principal row spaces of dimension ``r``, in double precision, all along a network.

    ``X`` is (T, m, n); ``linear`` and ``output`` have one (T, width, n) for each layer, with widths
    of ``r`` or more.

    Raises
    ------
    ValueError
        If there is no layer, the numbers of matrices differ, or ``r`` exceeds a width.

    Examples
    --------
    >>> X = torch.arange(90.0).sin().reshape(2, 5, 9)
    >>> found = spaces(X, [X, X], [X.relu(), X.tanh()], 3)
    >>> tuple(found.output.shape), found.depth
    ((2, 2, 9, 3), 2)
    """
    if not output or len(linear) != len(output):
        raise ValueError(
            "linear and output need one matrix for each of one or more layers; "
            f"you gave {len(linear)} and {len(output)}."
        )
    rows = [subspaces.principal_rows(M.double(), r) for M in (X, *linear, *output)]
    L = len(output)
    return Spaces(rows[0], torch.stack(rows[1 : L + 1]), torch.stack(rows[L + 1 :]))


def of(state: State, r: int, layers: int | None = None) -> Spaces:
    """Row spaces of the first ``layers`` layers of a network in training; all but the last if None.

    Examples
    --------
    >>> from lowdim.nets import networks
    >>> net = networks.autoencoder(6, 4, bias=False)
    >>> X = torch.arange(96.0).sin().reshape(2, 6, 8)
    >>> found = of(State(0, net.init(trials=2), X, net), 3)
    >>> tuple(found.output.shape)
    (1, 2, 8, 3)
    """
    count = state.net.depth - 1 if layers is None else layers
    return spaces(state.X, state.pre[:count], state.post[:count], r)


def measurements(
    r: int,
    *,
    reference: Tensor,
    labels: object,
    layers: int | None = None,
    accuracy_at: Collection[int] | None = None,
) -> dict[str, Callable[[State], Tensor]]:
    """What to hand to ``training.train`` as ``measure``; every entry gives (T, L).

    ``step_linear`` and ``step_output`` are distances from the layer's own input, ``drift_linear``
    and ``drift_output`` those from ``reference`` (T, n, r), ``accuracy`` is read off the outputs.
    Cutting is the dear part: ``accuracy_at`` restricts it to some steps, the others are NaN.
    The row spaces are worked out once for each step.

    Examples
    --------
    >>> from lowdim.nets import networks, training
    >>> X = torch.arange(96.0).sin().reshape(2, 6, 8)
    >>> net = networks.autoencoder(6, 4, bias=False)
    >>> asked = measurements(
    ...     3, reference=subspaces.principal_rows(X.double(), 3), labels=[0, 1] * 4
    ... )
    >>> run = training.train(net, net.init(trials=2), X, steps=4, schedule=2, measure=asked)
    >>> tuple(run.trace["step_output"].shape)
    (3, 2, 1)
    """
    last: list = [None, None]

    def at(state: State) -> Spaces:
        if last[0] is not state:
            last[:] = state, of(state, r, layers)
        return last[1]

    def read(state: State) -> Tensor:
        if accuracy_at is not None and state.step not in accuracy_at:
            return torch.full(at(state).output.shape[:2], torch.nan, dtype=torch.float64).T
        return at(state).accuracy(labels)

    return {
        "step_linear": lambda state: at(state).step("linear"),
        "step_output": lambda state: at(state).step("output"),
        "drift_linear": lambda state: at(state).drift(reference, "linear"),
        "drift_output": lambda state: at(state).drift(reference, "output"),
        "accuracy": read,
    }
