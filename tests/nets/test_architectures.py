"""Convolutions, LSTMs and Transformers: torch's own layers as oracles, trial by trial."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.nets.architectures import POINTWISE, Convolutional, Recurrent, Transformer
from lowdim.nets.training import GD, LBFGS, Adam, Objective, train

DOUBLE = torch.float64


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=DOUBLE, generator=torch.Generator().manual_seed(seed))


def close(a: torch.Tensor, b: torch.Tensor) -> bool:
    return torch.allclose(a, b, rtol=1e-10, atol=1e-12)


NETS = [
    Convolutional((4, 3), channels=(2, 3), kernel=(3, 3), outputs=12, strides=(1, 2)),
    Convolutional((1, 12), channels=(3, 2), kernel=(1, 5), outputs=12, activation="silu"),
    Recurrent(12, width=5, layers=2, outputs=12, tokens=3),
    Recurrent(12, width=5, layers=2, outputs=12, tokens=4, read="last", place="after"),
    Recurrent(12, width=5, layers=2, outputs=12, tokens="samples", activation="gelu"),
    Transformer(12, width=4, layers=2, outputs=12, tokens=3, heads=2),
    Transformer(12, width=4, layers=2, outputs=12, tokens="samples", activation="gelu"),
    Transformer(12, width=4, layers=1, outputs=12, norm=False, residual=False, tokens=2),
]
ids = [f"{type(n).__name__}-{k}" for k, n in enumerate(NETS)]


@pytest.mark.parametrize("activation", POINTWISE)
@pytest.mark.parametrize("strides", [(1, 1), (2, 1), (1, 3)])
def test_convolutions_are_torch_s(activation: str, strides: tuple[int, int]) -> None:
    net = Convolutional((5, 4), (2, 3), (3, 5), 7, activation, strides)
    weights = net.init(trials=2, seed=3, dtype=DOUBLE)
    X = normal(2, 20, 6)
    layers, output = net.forward(weights, X)
    for t in range(2):
        H = X[t].T.reshape(6, 1, 5, 4)
        for k, s in enumerate(strides):
            W = weights[2 * k][t].reshape(-1, H.shape[1], 3, 5)
            H = F.conv2d(H, W, weights[2 * k + 1][t, :, 0], stride=s, padding=(1, 2))
            H = POINTWISE[activation](H)
            assert close(layers[k][t], H.flatten(1).T)
        assert close(output[t], F.linear(H.flatten(1), weights[-2][t], weights[-1][t, :, 0]).T)


@pytest.mark.parametrize("net", NETS, ids=ids)
def test_gradients_are_those_of_differences(net) -> None:
    weights = [w.requires_grad_() for w in net.init(trials=2, seed=5, dtype=DOUBLE)]
    X = normal(2, 12, 3).requires_grad_()
    assert torch.autograd.gradcheck(lambda X, *w: net.forward(w, X)[1], (X, *weights))


@pytest.mark.parametrize("stride", [1, 2, 3, 4])
def test_the_slope_of_a_convolution_is_its_matrix_transposed(stride: int) -> None:
    net = Convolutional((7, 6), (2, 3), (5, 3), 1, strides=(1, stride))
    W = net.init(trials=2, dtype=DOUBLE)[2]
    H = normal(2, 84, 4).requires_grad_()
    out = net.linear(W, torch.zeros_like(W[..., :1]), H, 1)
    above = normal(*out.shape, seed=1)
    (slope,) = torch.autograd.grad(out, H, above)
    assert close(slope, net.matrix(W, 1).mT @ above)


def test_a_signal_is_an_image_of_one_row() -> None:
    net = Convolutional((1, 9), (2,), (1, 3), 4, "identity")
    weights, X = net.init(dtype=DOUBLE), normal(1, 9, 5)
    wanted = F.conv1d(X[0].T[:, None], weights[0][0][:, None], weights[1][0, :, 0], padding=1)
    assert close(net.forward(weights, X)[0][0][0], wanted.flatten(1).T)


@settings(max_examples=30, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    stride=st.integers(1, 3),
    seed=st.integers(0, 10**6),
)
def test_a_convolution_is_the_matrix_it_says_exactly(shape, stride, seed) -> None:
    net = Convolutional(shape, (2, 2), (3, 3), 1, strides=(1, stride))
    whole = lambda *s: torch.randint(-9, 10, s, generator=rng).to(DOUBLE)  # noqa: E731
    rng = torch.Generator().manual_seed(seed)
    W, H = whole(2, 2, 18), whole(2, 2 * shape[0] * shape[1], 3)
    zero = torch.zeros(2, 2, 1, dtype=DOUBLE)
    # whole numbers: no rounding, so equal means equal
    assert torch.equal(net.linear(W, zero, H, 1), net.matrix(W, 1) @ H)


def reference_lstm(net: Recurrent, weights: list[torch.Tensor], t: int) -> torch.nn.LSTM:
    into = weights[0].shape[2]
    lstm = torch.nn.LSTM(into, net.width, net.layers, dtype=DOUBLE)
    for k in range(net.layers):
        W, R, b = (w[t] for w in weights[3 * k : 3 * k + 3])
        getattr(lstm, f"weight_ih_l{k}").data.copy_(W)
        getattr(lstm, f"weight_hh_l{k}").data.copy_(R)
        getattr(lstm, f"bias_ih_l{k}").data.copy_(b[:, 0])
        getattr(lstm, f"bias_hh_l{k}").data.zero_()
    return lstm


@pytest.mark.parametrize("tokens", [1, 2, 4, "samples"])
@pytest.mark.parametrize("read", ["all", "last"])
def test_a_tanh_lstm_is_torch_s(tokens, read: str) -> None:
    net = Recurrent(8, 3, 2, 8, "tanh", tokens=tokens, read=read)
    weights, X = net.init(trials=2, seed=1, dtype=DOUBLE), normal(2, 8, 5)
    layers, output = net.forward(weights, X)
    for t in range(2):
        if tokens == "samples":
            H = reference_lstm(net, weights, t)(X[t].T)[0]  # (n, width), unbatched
        else:
            sequence = X[t].T.reshape(5, tokens, -1).transpose(0, 1)
            states = reference_lstm(net, weights, t)(sequence)[0]
            H = states[-1] if read == "last" else states.transpose(0, 1).flatten(1)
        assert close(layers[-1][t], H.T)
        assert close(output[t], F.linear(H, weights[-2][t], weights[-1][t, :, 0]).T)


def test_relu_inside_one_step_is_gated_relu() -> None:
    net = Recurrent(6, 4, 1, 6)
    weights, X = net.init(dtype=DOUBLE), normal(1, 6, 7)
    i, _, g, o = (weights[0] @ X + weights[2]).chunk(4, 1)
    wanted = torch.sigmoid(o) * torch.sigmoid(i) * torch.relu(g)
    assert close(net.forward(weights, X)[0][0], wanted)


def test_relu_after_is_relu_of_the_hidden_states() -> None:
    common = {"inputs": 6, "width": 4, "layers": 1, "outputs": 6, "tokens": 2}
    after = Recurrent(**common, place="after")
    usual = Recurrent(**common, activation="tanh")
    weights, X = after.init(dtype=DOUBLE), normal(1, 6, 7)
    assert close(after.forward(weights, X)[0][0], usual.forward(weights, X)[0][0].relu())


def reference_blocks(net: Transformer, weights: list[torch.Tensor], t: int):
    for k in range(net.layers):
        w = [x[t] for x in weights[3 + 12 * k : 15 + 12 * k]]
        block = torch.nn.TransformerEncoderLayer(
            net.width, net.heads, net.hidden, dropout=0.0, activation=net.activation, dtype=DOUBLE
        )
        own = block.self_attn
        named = [
            own.in_proj_weight, own.in_proj_bias, own.out_proj.weight, own.out_proj.bias,
            block.norm1.weight, block.norm1.bias, block.linear1.weight, block.linear1.bias,
            block.linear2.weight, block.linear2.bias, block.norm2.weight, block.norm2.bias,
        ]  # fmt: skip
        for parameter, value in zip(named, w, strict=True):
            parameter.data.copy_(value.reshape(parameter.shape))
        yield block


@pytest.mark.parametrize("tokens", [1, 3, 12, "samples"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_blocks_are_torch_s(tokens, activation: str) -> None:
    net = Transformer(12, 4, 2, 12, activation, tokens=tokens, heads=2)
    weights, X = net.init(trials=2, seed=5, dtype=DOUBLE), normal(2, 12, 5)
    weights = [w + 0.1 * normal(*w.shape, seed=k) for k, w in enumerate(weights)]
    layers, _ = net.forward(weights, X)
    for t in range(2):
        pieces = X[t].T if tokens == "samples" else X[t].T.reshape(5, tokens, -1).transpose(0, 1)
        H = F.linear(pieces, weights[0][t], weights[1][t, :, 0])
        if tokens != "samples":
            H = H + weights[2][t, :, :, 0].T[:, None]
        for k, block in enumerate(reference_blocks(net, weights, t)):
            H = block(H)
            flat = H if tokens == "samples" else H.transpose(0, 1).flatten(1)
            assert torch.allclose(layers[k][t], flat.T, rtol=1e-8, atol=1e-10)


def alike(mine: torch.Tensor, theirs: torch.Tensor) -> bool:
    """Constants where those are constant, else numbers of the same range and spread."""
    mine, theirs = mine.detach().flatten().float(), theirs.detach().flatten().float()
    if theirs.numel() > 1 and float(theirs.std()) == 0:
        return bool((mine == theirs[0]).all())
    ends, spread = (mine.abs().max() / theirs.abs().max()), mine.std() / theirs.std()
    return abs(float(ends) - 1) < 0.1 and abs(float(spread) - 1) < 0.25


def test_weights_begin_as_torch_s_do() -> None:
    """Ones and zeros of normalizations and biases, ranges of everything else."""
    torch.manual_seed(0)
    encoder = Transformer(128, 64, 2, 96, tokens=2, heads=2)
    weights = encoder.init(seed=1)
    for k in range(2):
        fresh = torch.nn.TransformerEncoderLayer(64, 2, 128)
        own = fresh.self_attn
        theirs = [
            own.in_proj_weight, own.in_proj_bias, own.out_proj.weight, own.out_proj.bias,
            fresh.norm1.weight, fresh.norm1.bias, fresh.linear1.weight, fresh.linear1.bias,
            fresh.linear2.weight, fresh.linear2.bias, fresh.norm2.weight, fresh.norm2.bias,
        ]  # fmt: skip
        mine = weights[3 + 12 * k : 15 + 12 * k]
        assert [alike(a, b) for a, b in zip(mine, theirs, strict=True)] == [True] * 12
    first, last = torch.nn.Linear(64, 64), torch.nn.Linear(128, 96)
    pairs = [(weights[0], first.weight), (weights[1], first.bias), (weights[-2], last.weight)]
    assert all(alike(a, b) for a, b in pairs)
    assert alike(weights[2], torch.empty(128).uniform_(-0.02, 0.02))

    cells, lstm = Recurrent(30, 40, 2, 9).init(seed=1), torch.nn.LSTM(30, 40, 2)
    named = [f"{name}_l{k}" for k in (0, 1) for name in ("weight_ih", "weight_hh", "bias_ih")]
    assert all(alike(a, getattr(lstm, b)) for a, b in zip(cells, named, strict=False))

    filters = Convolutional((4, 4), (40, 60), (3, 5), 9).init(seed=1)
    for k, conv in enumerate((torch.nn.Conv2d(1, 40, (3, 5)), torch.nn.Conv2d(40, 60, (3, 5)))):
        assert alike(filters[2 * k], conv.weight) and alike(filters[2 * k + 1], conv.bias)


@pytest.mark.parametrize("net", NETS, ids=ids)
def test_features_shapes_and_trials(net) -> None:
    many = net.init(trials=4, seed=7, dtype=DOUBLE)
    alone = net.init(trials=1, seed=7, first_trial=2, dtype=DOUBLE)
    assert all(torch.equal(a[2:3], b) for a, b in zip(many, alone, strict=True))
    X = normal(4, 12, 5)
    layers, output = net.forward(many, X)
    assert [h.shape[1] for h in layers] == net.features() and output.shape == (4, 12, 5)
    single, out = net.forward(alone, X[2:3])
    assert all(close(a[2:3], b) for a, b in zip([*layers, output], [*single, out], strict=True))


@pytest.mark.parametrize("net", NETS, ids=ids)
@pytest.mark.parametrize("optimizer", [GD(0.01), Adam(0.01)])
def test_a_trial_trains_the_same_alone(net, optimizer) -> None:
    X, weights = normal(3, 12, 5), net.init(trials=3, dtype=DOUBLE)
    seen = {"size": lambda state: state.post[-2].square().mean((1, 2))}
    task = Objective(net, X, normalization="sample", penalty=[0.01, 0.02, 0.0])
    many = train(task, weights, optimizer, 6, schedule=3, measure=seen)
    alone = train(task.trial(1), [w[1:2] for w in weights], optimizer, 6, schedule=[6])
    assert all(
        torch.allclose(a[1:2], b, rtol=1e-6, atol=1e-8)
        for a, b in zip(many.weights, alone.weights, strict=True)
    )
    assert many.trace_steps == [0, 3, 6] and many.trace["size"].shape == (3, 3)
    assert bool((many.loss < many.trace["loss"][0]).all())
    assert torch.equal(weights[0], net.init(trials=3, dtype=DOUBLE)[0])


def by_hand(net, weights, X, goal, method: str, rate: float, steps: int) -> list[torch.Tensor]:
    """The rules as printed in textbooks, with gradients asked for afresh at each step."""
    now = [w.clone() for w in weights]
    first, second = ([torch.zeros_like(w) for w in now] for _ in range(2))
    for t in range(1, steps + 1):
        free = [w.requires_grad_() for w in now]
        loss = (net.forward(free, X)[1] - goal).square().sum() / X.shape[2]
        slopes = torch.autograd.grad(loss, free, allow_unused=True, materialize_grads=True)
        now = [w.detach() for w in free]
        if method == "adam":
            first = [0.9 * m + 0.1 * g for m, g in zip(first, slopes, strict=True)]
            second = [0.999 * v + 0.001 * g * g for v, g in zip(second, slopes, strict=True)]
            moments = zip(first, second, strict=True)
            slopes = [(m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)).sqrt() + 1e-8) for m, v in moments]
        now = [w - rate * g for w, g in zip(now, slopes, strict=True)]
    return now


@pytest.mark.parametrize("net", NETS[::2], ids=ids[::2])
@pytest.mark.parametrize("method", ["gd", "adam"])
def test_steps_are_those_of_the_textbook(net, method: str) -> None:
    X, goal, weights = normal(2, 12, 5), normal(2, 12, 5, seed=1), net.init(trials=2, dtype=DOUBLE)
    optimizer = GD(0.01) if method == "gd" else Adam(0.01)
    run = train(
        Objective(net, X, goal, normalization="sample"), weights, optimizer, 4, schedule=[1]
    )
    wanted = by_hand(net, weights, X, goal, method, 0.01, 4)
    for a, b in zip(run.weights, wanted, strict=True):
        assert torch.allclose(a, b, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("net", NETS[::3], ids=ids[::3])
def test_pieces_of_a_stack_change_nothing(net, threads: int, monkeypatch) -> None:
    X, weights = normal(5, 12, 4), net.init(trials=5, dtype=DOUBLE)
    options = {"schedule": 2, "measure": {"last": lambda state: state.post[-2].flatten(1)}}
    task = Objective(net, X, 2 * X, normalization="sample")
    whole = train(task, weights, Adam(0.01), 5, **options)
    monkeypatch.setattr("lowdim.linalg.parallel.PIECE", 2 * 4 * 12 * 4)  # two trials at a time
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        cut = train(task, weights, Adam(0.01), 5, **options)
    finally:
        torch.set_num_threads(before)
    for a, b in zip(whole.weights, cut.weights, strict=True):
        assert torch.allclose(a, b, rtol=1e-7, atol=1e-9)
    assert whole.trace_steps == cut.trace_steps == [0, 2, 4, 5]
    assert all(torch.allclose(whole.trace[k], cut.trace[k], rtol=1e-7) for k in whole.trace)
    # measured where it says: step 0 is the start, the last is where the weights are
    assert close(cut.trace["last"][0], net.forward(weights, X)[0][-1].flatten(1))
    assert close(cut.trace["last"][-1], net.forward(cut.weights, X)[0][-1].flatten(1))
    assert torch.equal(cut.loss, cut.trace["loss"][-1])


@pytest.mark.parametrize("kind", [Recurrent, Transformer])
def test_samples_see_each_other_only_where_it_says_so(kind) -> None:
    X = normal(1, 12, 5)
    moved = X.clone()
    moved[..., 0] += 1
    for tokens, mixes in ((1, False), (3, False), ("samples", True)):
        net = kind(12, 4, 2, 12, tokens=tokens)
        weights = net.init(dtype=DOUBLE)
        a, b = net.forward(weights, X)[1], net.forward(weights, moved)[1]
        assert close(a[..., 1:], b[..., 1:]) != mixes


def test_refusals() -> None:
    with pytest.raises(ValueError, match="odd"):
        Convolutional((4, 4), (1,), (2, 2), 4)
    with pytest.raises(ValueError, match="strides"):
        Convolutional((4, 4), (1,), (3, 3), 4, strides=(1, 1))
    with pytest.raises(ValueError, match="divides inputs = 12"):
        Recurrent(12, 4, 1, 12, tokens=5)
    with pytest.raises(ValueError, match="heads must divide"):
        Transformer(12, 4, 1, 12, heads=3)
    net = Recurrent(12, 4, 1, 3)
    with pytest.raises(ValueError, match="takes 12 numbers and returns 3"):
        train(Objective(net, torch.ones(1, 12, 5)), net.init(), GD(0.1), 1)
    with pytest.raises(ValueError, match=r"target needs the shape \(2, 3, n\).*\(1, 4, 5\)"):
        Objective(net, torch.ones(2, 12, 5), torch.ones(1, 4, 5)).value(net.init(trials=2))
    with pytest.raises(ValueError, match="Recurrent needs weights of the shapes"):
        Objective(net, torch.ones(12, 5), torch.ones(3, 5)).value(net.init()[1:])
    with pytest.raises(ValueError, match=r"one dtype; X is torch\.float32"):
        Objective(net, torch.ones(12, 5), torch.ones(3, 5)).value(net.init(dtype=DOUBLE))


@pytest.mark.parametrize("net", NETS[::3], ids=ids[::3])
def test_objective_and_its_gradients(net) -> None:
    X, goal = normal(2, 12, 5), normal(2, 12, 5, seed=1)
    free = [w.requires_grad_() for w in net.init(trials=2, dtype=DOUBLE)]
    wanted = (net.forward(free, X)[1] - goal).square().mean((1, 2))
    wanted = wanted + sum(0.1 * w.flatten(1).square().sum(1) for w in free)
    task = Objective(net, X, goal, normalization="mean", penalty=0.1)
    assert close(task.value(free), wanted.detach())
    for mine, theirs in zip(
        task.gradients(free), torch.autograd.grad(wanted.sum(), free), strict=True
    ):
        assert close(mine, theirs)


def test_adam_is_torch_s_fused_kernel_to_the_last_bit() -> None:
    net = Recurrent(12, width=5, layers=2, outputs=12)
    X, weights = normal(1, 12, 5).float(), net.init()
    run = train(Objective(net, X, normalization="sample"), weights, Adam(0.003), 30)
    moving = [torch.nn.Parameter(w.clone()) for w in weights]
    optimizer = torch.optim.Adam(moving, lr=0.003, fused=True)
    for _ in range(30):
        optimizer.zero_grad()
        ((net.forward(moving, X)[1] - X).square().sum() / 5).backward()
        optimizer.step()
    assert all(torch.equal(a, b.detach()) for a, b in zip(run.weights, moving, strict=True))


def test_lbfgs_goes_on_where_adam_is_slow() -> None:
    net = Convolutional((2, 3), channels=(2,), kernel=(1, 3), outputs=6, activation="tanh")
    X, start = normal(2, 6, 8), net.init(trials=2, dtype=DOUBLE)
    task = Objective(net, X, normalization="sample", penalty=0.01)
    run = train(task, start, LBFGS(), 500, gradient_norm=1e-6)
    assert run.converged.all() and bool((run.objective < task.value(start)).all())
    slopes = [g.flatten(1).square().sum(1) for g in task.gradients(run.weights)]
    assert torch.allclose(run.gradient_norm, sum(slopes).sqrt(), rtol=1e-4)
