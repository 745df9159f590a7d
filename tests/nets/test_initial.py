"""How layers begin: torch's own initializations as oracles, and biases that share their law."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.nets._initial import INITIALIZATIONS, draw_layer

OUT, INTO = 300, 200


def drawn(kind: str, *, scale: float | None = None, bias: bool = True, **shape: int):
    sizes = {"out": OUT, "into": INTO} | shape
    return draw_layer(np.random.default_rng(1), sizes["out"], sizes["into"], kind, scale, bias)


def theirs(kind: str) -> torch.Tensor:
    torch.manual_seed(0)
    W = torch.nn.Linear(INTO, OUT).weight.detach().double()
    match kind:
        case "normal":
            torch.nn.init.normal_(W, std=INTO**-0.5)
        case "kaiming":
            torch.nn.init.kaiming_normal_(W)
        case "xavier":
            torch.nn.init.xavier_uniform_(W)
        case "orthogonal":
            torch.nn.init.orthogonal_(W)
        case "nonnegative":
            W = W.abs()
    return W


@pytest.mark.parametrize("kind", INITIALIZATIONS)
def test_weights_have_the_moments_and_ends_of_torch_s(kind: str) -> None:
    W, other = drawn(kind)[0], theirs(kind).numpy()
    size = other.std()
    for power, room in ((1, 0.02), (2, 0.03), (4, 0.1)):
        mine, wanted = (W**power).mean(), (other**power).mean()
        assert abs(mine - wanted) < room * (np.abs(other) ** power).mean()
    if kind in ("uniform", "nonnegative", "xavier"):
        np.testing.assert_allclose([W.min(), W.max()], [other.min(), other.max()], atol=0.01 * size)


@pytest.mark.parametrize("kind", INITIALIZATIONS)
def test_a_scale_is_the_size_or_a_gain(kind: str) -> None:
    gain = kind in ("kaiming", "xavier", "orthogonal")
    own = 1.0 if gain else INTO**-0.5
    np.testing.assert_allclose(drawn(kind, scale=3 * own)[0], 3 * drawn(kind)[0], atol=1e-12)


@pytest.mark.parametrize("kind", INITIALIZATIONS)
def test_biases_share_the_law_of_the_weights_or_are_zero(kind: str) -> None:
    b = drawn(kind)[1]
    assert b.shape == (OUT,) and not drawn(kind, bias=False)[1].any()
    if kind in ("uniform", "normal", "nonnegative"):
        W = drawn(kind)[0]
        assert abs(b.std() / W.std() - 1) < 0.15 and abs(b.mean() - W.mean()) < 0.2 * W.std()
        assert np.abs(b[:, None] - W).min(0).max() > 0  # no column once more
    else:
        assert not b.any()


@pytest.mark.parametrize(("out", "into"), [(7, 3), (3, 7), (4, 4)])
def test_orthogonal_weights_are_so_on_their_smaller_side(out: int, into: int) -> None:
    W = drawn("orthogonal", out=out, into=into)[0]
    gram = W @ W.T if out < into else W.T @ W
    assert W.shape == (out, into)
    np.testing.assert_allclose(gram, np.eye(min(out, into)), atol=1e-12)


def test_orthogonal_weights_are_drawn_evenly() -> None:
    """Haar's measure: the diagonal has mean zero, which QR alone does not give."""
    rng = np.random.default_rng(0)
    traces = [draw_layer(rng, 2, 2, "orthogonal", None, False)[0][1, 1] for _ in range(2000)]
    assert abs(np.mean(traces)) < 0.08
