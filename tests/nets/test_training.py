"""Training: optimizers against torch.optim and scipy, stopping, divergence, trial by trial."""

from __future__ import annotations

import io
import warnings
from dataclasses import replace
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.nets import _engine, training
from lowdim.nets._schedule import Progress, resolve
from lowdim.nets.losses import Quadratic
from lowdim.nets.networks import Dense, autoencoder
from lowdim.nets.training import GD, LBFGS, Adam, Drawn, Momentum, Objective, Shuffled, train
from scipy.optimize import minimize

F64 = torch.float64


def data(*shape: int, seed: int = 0, dtype: torch.dtype = F64) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=F64).to(dtype)


def leaves(weights, *, trial: int | None = None):
    cut = slice(None) if trial is None else slice(trial, trial + 1)
    return [
        (W[cut].clone().requires_grad_(), None if b is None else b[cut].clone().requires_grad_())
        for W, b in weights
    ]


def flat(weights):
    return [t for pair in weights for t in pair if t is not None]


def autograd_loss(net, weights, X, target, per: int, penalty: float = 0.0):
    """The objective of each trial by ordinary torch; ``per`` divides the squares."""
    H = X
    for (W, b), act in zip(weights, net.activations, strict=True):
        Z = W @ H if b is None else W @ H + b
        H = Z if act.name == "identity" else getattr(torch.nn.functional, act.name)(Z)
    squares = (H - target).square().sum((1, 2))
    return squares / per + penalty * sum(t.square().sum((1, 2)) for t in flat(weights))


def close(a, b, tol: float = 1e-10) -> bool:
    return all(
        torch.allclose(s, t, rtol=tol, atol=tol) for s, t in zip(flat(a), flat(b), strict=True)
    )


# Ours, torch's, with the same constants.
OPTIMIZERS = {
    "gd": (GD(0.01), lambda p, **o: torch.optim.SGD(p, lr=0.01, **o)),
    "momentum": (
        Momentum(0.01, 0.8),
        lambda p, **o: torch.optim.SGD(p, lr=0.01, momentum=0.8, **o),
    ),
    "adam": (
        Adam(0.01, betas=(0.8, 0.99)),
        lambda p, **o: torch.optim.Adam(p, lr=0.01, betas=(0.8, 0.99), **o),
    ),
    "adam, fused": (
        Adam(0.01, betas=(0.8, 0.99), fused=True),
        lambda p, **o: torch.optim.Adam(p, lr=0.01, betas=(0.8, 0.99), fused=True, **o),
    ),
}


def by_torch(net, weights, X, optimizer, steps: int, rate=None):
    """Each trial alone by torch.optim on the loss per sample; ``rate`` depends on the step."""
    ends = []
    for t in range(len(X)):
        own = leaves(weights, trial=t)
        torchs = optimizer(flat(own))
        for step in range(steps):
            if rate is not None:
                torchs.param_groups[0]["lr"] = rate(step)
            torchs.zero_grad()
            autograd_loss(net, own, X[t : t + 1], X[t : t + 1], X.shape[2]).sum().backward()
            torchs.step()
        ends.append([p.detach() for p in flat(own)])
    return [torch.cat(parts) for parts in zip(*ends, strict=True)]


@pytest.mark.parametrize("decay", [0.0, 0.2])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_against_torch_optim(name: str, decay: float) -> None:
    net = Dense((6, 4, 6), activation="tanh")
    weights, X = net.init(trials=3, seed=4, dtype=F64), data(3, 6, 9)
    ours, torchs = OPTIMIZERS[name]
    penalty = training.from_weight_decay(decay)
    task = Objective(net, X, normalization="sample", penalty=penalty)
    run = train(task, weights, ours, 57)
    wanted = by_torch(net, weights, X, partial(torchs, weight_decay=decay), 57)
    for mine, theirs in zip(flat(run.weights), wanted, strict=True):
        assert torch.allclose(mine, theirs, rtol=1e-10, atol=1e-10)
    assert torch.allclose(run.objective, task.value(run.weights))
    assert torch.allclose(run.loss, task.losses(run.weights))
    squares = [g.square().sum((1, 2)) for g in flat(task.gradients(run.weights))]
    assert torch.allclose(run.gradient_norm, sum(squares).sqrt())
    assert run.steps.tolist() == [57] * 3 and not run.converged.any()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_rate_may_change_with_the_step(name: str) -> None:
    net = Dense((4, 3, 4), activation="tanh")
    weights, X = net.init(trials=2, seed=1, dtype=F64), data(2, 4, 6)
    ours, torchs = OPTIMIZERS[name]
    rate = training.held(training.cosine_rates(0.02, 0.001, 4), 5)
    run = train(Objective(net, X, normalization="sample"), weights, replace(ours, rate=rate), 20)
    for mine, theirs in zip(
        flat(run.weights), by_torch(net, weights, X, torchs, 20, rate), strict=True
    ):
        assert torch.allclose(mine, theirs, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("cache", [3_000_000, 1])
@pytest.mark.parametrize("name", ["gd", "momentum", "adam"])
def test_trials_with_rates_and_penalties_of_their_own(name: str, cache: int, monkeypatch) -> None:
    monkeypatch.setattr(_engine, "_CACHE_BYTES", cache)
    net = Dense((4, 3, 2), activation="tanh")
    weights, X, Y = net.init(trials=3, dtype=F64), data(3, 4, 6), data(3, 2, 6, seed=1)
    rates, lams = [0.01, 0.05, 0.002], [[0.1, 0.0], [0.0, 0.3], [0.2, 0.2]]
    ours = OPTIMIZERS[name][0]
    task = Objective(net, X, Y, normalization="sample", penalty=torch.tensor(lams).double())
    run = train(task, weights, replace(ours, rate=rates), 25)
    for t in range(3):
        cut = [(W[t : t + 1], b[t : t + 1]) for W, b in weights]
        alone = train(task.trial(t), cut, replace(ours, rate=rates[t]), 25)
        assert close([(W[t : t + 1], b[t : t + 1]) for W, b in run.weights], alone.weights, 1e-12)
        assert torch.allclose(run.objective[t : t + 1], alone.objective)
        assert torch.allclose(run.gradient_norm[t : t + 1], alone.gradient_norm)


@given(
    lam=st.floats(0, 2),
    rate=st.floats(0.001, 0.1),
    steps=st.integers(0, 60),
    seed=st.integers(0, 99),
)
@settings(max_examples=25, deadline=None)
def test_one_layer_descends_by_the_closed_form(lam, rate, steps, seed) -> None:
    """W - W* shrinks by the factor I - 2 rate (X Xᵀ/n + λ) at every step."""
    net, X, Y = Dense((3, 2), bias=False), data(1, 3, 8, seed=seed), data(1, 2, 8, seed=seed + 1)
    start = net.init(seed=seed, dtype=F64)
    S = X[0] @ X[0].mT / 8 + lam * torch.eye(3, dtype=F64)
    if float(torch.linalg.matrix_norm(S, 2)) * rate > 1:
        return  # the formula holds, but grows beyond what digits hold
    best = torch.linalg.solve(S, X[0] @ Y[0].mT / 8).mT
    factor = torch.linalg.matrix_power(torch.eye(3, dtype=F64) - 2 * rate * S, steps)
    task = Objective(net, X, Y, normalization="sample", penalty=lam)
    run = train(task, start, GD(rate), steps, schedule=[0])
    torch.testing.assert_close(run.weights[0][0][0], best + (start[0][0][0] - best) @ factor)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu", ("tanh", "sigmoid", "leaky_relu")])
def test_fused_descent_equals_the_general_path(activation, bias: bool) -> None:
    net = Dense((6, 5, 4, 6), activation=activation, bias=bias)
    weights, X = net.init(trials=5, dtype=F64), data(5, 6, 8)
    fused = train(Objective(net, X, penalty=0.05), weights, GD(0.002), 40)
    # numbers for each trial take the path that forms gradients
    general = train(Objective(net, X, penalty=[0.05] * 5), weights, GD([0.002] * 5), 40)
    assert close(fused.weights, general.weights, 1e-12)
    assert torch.allclose(fused.gradient_norm, general.gradient_norm)


def test_plain_relu_is_the_four_line_loop() -> None:
    net = autoencoder(7, 3, bias=False)
    weights, X = net.init(trials=2, dtype=F64), data(2, 7, 11)
    (W1, _), (W2, _) = [(W.clone(), b) for W, b in weights]
    for _ in range(25):
        H = (W1 @ X).clamp(min=0)
        R = W2 @ H - X
        D = (W2.mT @ R) * (H > 0)
        W2, W1 = W2 - 0.02 * R @ H.mT, W1 - 0.02 * D @ X.mT
    run = train(Objective(net, X), weights, GD(0.01), 25)
    assert close(run.weights, [(W1, None), (W2, None)], 1e-12)


def test_inputs_are_left_alone() -> None:
    net = autoencoder(4, 2)
    weights, X = net.init(trials=2), data(2, 4, 5, dtype=torch.float32)
    before, X_before = [t.clone() for t in flat(weights)], X.clone()
    run = train(Objective(net, X), weights, GD(0.01), 5)
    assert all(torch.equal(a, b) for a, b in zip(before, flat(weights), strict=True))
    assert torch.equal(X, X_before) and not torch.equal(run.weights[0][0], weights[0][0])


@pytest.mark.parametrize(
    ("optimizer", "size", "options"),
    [
        (GD(0.01), None, {}),
        (GD(0.01), None, {"gradient_norm": 0.3}),
        (GD(0.01), 4, {}),
        (GD(0.01), 4, {"gradient_norm": 0.3}),
        (Momentum(0.003), 3, {}),
        (Adam(0.01), None, {}),
        (LBFGS(), None, {}),
    ],
)
@pytest.mark.parametrize("cache", [3_000_000, 1])
def test_a_trial_alone_is_that_trial_of_many(optimizer, size, options, cache, monkeypatch) -> None:
    monkeypatch.setattr(_engine, "_CACHE_BYTES", cache)
    net = Dense((6, 4, 6), activation="relu")
    X = data(5, 6, 9)
    steps = 12 if isinstance(optimizer, LBFGS) else 60
    norm = {
        "norm": lambda s: s.weights[0][0].flatten(1).norm(dim=1),
        "pair": lambda s: s.post[0][:, :2, 0],
    }

    def run(X, first: int, trials: int):
        batches = None if size is None else Shuffled(size, seed=7, first_trial=first)
        weights = net.init(trials=trials, first_trial=first, seed=7, dtype=F64)
        task = Objective(net, X)
        how = {"batches": batches, "measure": norm, "schedule": 7, **options}
        return train(task, weights, optimizer, steps, **how)

    many = run(X, 0, 5)
    for i in (0, 3):
        alone = run(X[i : i + 1], i, 1)
        tol = 1e-6 if isinstance(optimizer, LBFGS) else 1e-11
        assert close([(W[i : i + 1], b[i : i + 1]) for W, b in many.weights], alone.weights, tol)
        assert many.steps[i] == alone.steps[0]
        rows = len(alone.trace_steps) - 1
        assert alone.trace_steps[:rows] == many.trace_steps[:rows]
        for name in ("loss", "norm", "pair"):
            assert torch.allclose(
                many.trace[name][:rows, i], alone.trace[name][:rows, 0], rtol=1e-6, atol=1e-9
            )


def test_one_thread_against_two() -> None:
    net = autoencoder(60, 20, bias=False)
    X = data(40, 60, 50, dtype=torch.float32)
    weights = net.init(trials=40)
    before, runs = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 1):
            torch.set_num_threads(threads)
            for batches in (None, Shuffled(16)):
                task = Objective(net, X)
                runs.append(train(task, weights, GD(1e-4), 30, schedule=10, batches=batches))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    for one, two, again in ((runs[0], runs[2], runs[4]), (runs[1], runs[3], runs[5])):
        assert close(one.weights, two.weights, 1e-5)
        assert torch.allclose(one.trace["loss"], two.trace["loss"], rtol=1e-5)
        assert all(
            torch.equal(a, b) for a, b in zip(flat(one.weights), flat(again.weights), strict=True)
        )


def test_threads_are_used_and_chunks_cut(monkeypatch) -> None:
    seen = set()
    monkeypatch.setattr(_engine, "_CACHE_BYTES", 1)
    walk = training.Descent.walk

    def spy(self, engine, lo, hi, step, stop):
        seen.add((lo, hi, torch.get_num_threads()))
        return walk(self, engine, lo, hi, step, stop)

    monkeypatch.setattr(training.Descent, "walk", spy)
    net, before = autoencoder(4, 2), torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        task = Objective(net, data(4, 4, 5, dtype=torch.float32))
        train(task, net.init(trials=4), GD(0.01), 3)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert seen == {(i, i + 1, 1) for i in range(4)}


def test_sgd_goes_once_through_all_samples_each_epoch() -> None:
    # At a tiny rate the three updates of an epoch add up to the gradient over all samples.
    net = Dense((3, 2), bias=True)
    weights, X, Y = net.init(trials=2, dtype=F64), data(2, 3, 10), data(2, 2, 10, seed=1)
    rate = 1e-7
    task = Objective(net, X, Y)
    run = train(task, weights, GD(rate), 3, batches=Shuffled(4))
    G = task.gradients(weights)
    for (W, b), (V, c), (g, h) in zip(run.weights, weights, G, strict=True):
        assert torch.allclose((V - W) / rate, g, rtol=1e-4, atol=1e-4)
        assert torch.allclose((c - b) / rate, h, rtol=1e-4, atol=1e-4)
    other, again, third = (
        train(task, weights, GD(0.01), 3, batches=Shuffled(4, seed=seed)) for seed in (1, 1, 2)
    )
    assert torch.equal(other.weights[0][0], again.weights[0][0])
    assert not torch.equal(other.weights[0][0], third.weights[0][0])


def test_a_batch_of_everything_is_full_descent() -> None:
    net = Dense((4, 3, 4), activation="silu")
    weights, X = net.init(trials=3, dtype=F64), data(3, 4, 6)
    turned = torch.arange(6).flip(0)
    picks = (Shuffled(6), Shuffled(6, shared=True), Drawn(lambda _: turned))
    for normalization in training.NORMALIZATIONS:
        task = Objective(net, X, normalization=normalization)
        full = train(task, weights, GD(0.01), 30)
        for batches in picks:
            some = train(task, weights, GD(0.01), 30, batches=batches)
            assert close(full.weights, some.weights, 1e-11)


def test_drawn_columns_are_the_samples_seen() -> None:
    net = Dense((4, 3, 2), activation="tanh")
    weights, X, Y = net.init(trials=2, dtype=F64), data(2, 4, 6), data(2, 2, 6, seed=1)
    drawn = torch.tensor([[0, 3], [5, 1]])  # another pair of samples for each trial
    run = train(
        Objective(net, X, Y, normalization="sample"), weights, GD(0.1), 1,
        batches=Drawn(lambda step: drawn),
    )  # fmt: skip
    for t in range(2):
        cut = [(W[t : t + 1], b[t : t + 1]) for W, b in weights]
        seen = Objective(net, X[t, :, drawn[t]], Y[t, :, drawn[t]], normalization="sample")
        moved = zip(flat(cut), flat(seen.gradients(cut)), flat(run.weights), strict=True)
        for before, slope, after in moved:
            torch.testing.assert_close(after[t : t + 1], before - 0.1 * slope)


def test_a_shared_order_is_the_same_for_all_trials() -> None:
    one, own = Shuffled(3, seed=2, shared=True), Shuffled(3, seed=2)
    for step in range(8):
        shared = one.columns(0, 4, 10)(step)
        assert bool((shared == shared[:1]).all())
        assert torch.equal(one.columns(2, 4, 10)(step), shared[2:])
        assert torch.equal(own.columns(2, 4, 10)(step), own.columns(0, 4, 10)(step)[2:])
    assert not torch.equal(own.columns(0, 1, 10)(0), own.columns(1, 2, 10)(0))


def test_lbfgs_finds_what_scipy_and_least_squares_find() -> None:
    net = Dense((4, 3))
    weights, X, Y = net.init(trials=3, dtype=F64), data(3, 4, 20), data(3, 3, 20, seed=5)
    run = train(Objective(net, X, Y), weights, LBFGS(), 500, gradient_norm=1e-9)
    assert run.converged.all() and bool((run.gradient_norm <= 1e-9).all())
    assert "without a problem" in run.report()
    ones = torch.cat([X, torch.ones(3, 1, 20, dtype=F64)], dim=1)
    best = torch.linalg.lstsq(ones.mT, Y.mT).solution.mT
    assert torch.allclose(torch.cat(run.weights[0], dim=2), best, atol=1e-9)

    deep = Dense((4, 3, 4), activation="tanh")
    start, X = deep.init(trials=2, dtype=F64), data(2, 4, 15)
    task = Objective(deep, X, penalty=[0.05, 0.1])
    run = train(task, start, LBFGS(), 5000, gradient_norm=1e-7)
    assert run.converged.all()
    G = task.gradients(run.weights)
    assert bool((sum(g.square().sum((1, 2)) for g in flat(G)).sqrt() <= 1.01e-7).all())
    for t in range(2):
        shapes = [p[t : t + 1].shape for p in flat(start)]

        def fun(x, t=t, shapes=shapes):
            parts, own = torch.from_numpy(x).clone().requires_grad_(), []
            pieces = torch.split(parts, [s.numel() for s in shapes])
            tensors = [p.view(s) for p, s in zip(pieces, shapes, strict=True)]
            own = list(zip(tensors[::2], tensors[1::2], strict=True))
            value = autograd_loss(deep, own, X[t : t + 1], X[t : t + 1], 1, (0.05, 0.1)[t]).sum()
            (g,) = torch.autograd.grad(value, parts)
            return value.item(), g.numpy()

        x0 = torch.cat([p[t].reshape(-1) for p in flat(start)]).numpy()
        found = minimize(fun, x0, jac=True, method="BFGS", options={"gtol": 1e-6, "maxiter": 5000})
        assert run.objective[t].item() <= found.fun + 1e-5 * abs(found.fun)


def test_lbfgs_stops_at_the_first_point_that_will_do() -> None:
    net = Dense((4, 3))
    weights, X, Y = net.init(trials=4, dtype=F64), data(4, 4, 20), data(4, 3, 20, seed=5)
    task = Objective(net, X, Y)
    run = train(task, weights, LBFGS(), 500, gradient_norm=1e-3)
    assert run.converged.all()
    for t in range(4):
        cut = [(W[t : t + 1], b[t : t + 1]) for W, b in weights]
        early = train(task.trial(t), cut, LBFGS(), int(run.steps[t]) - 1, gradient_norm=1e-3)
        assert early.gradient_norm.item() > 1e-3 and not early.converged.any()


def test_lbfgs_traces_and_says_when_it_falls_short() -> None:
    net = autoencoder(5, 2, activation="tanh")
    weights, X = net.init(trials=3, dtype=F64), data(3, 5, 12)
    task = Objective(net, X)
    measure = {"loss again": lambda s: task.value(s.weights)}
    run = train(task, weights, LBFGS(), 9, schedule=2, gradient_norm=1e-12, measure=measure)
    assert run.trace_steps == [0, 2, 4, 6, 8, 9] and run.steps.tolist() == [9] * 3
    assert torch.allclose(run.trace["loss"], run.trace["loss again"], rtol=1e-10)
    assert torch.allclose(run.trace["loss"][0], task.value(weights))
    assert torch.allclose(run.trace["loss"][-1], run.loss)
    assert bool((run.trace["loss"].diff(dim=0) < 0).all())
    assert "3 of 3 trials did not reach the gradient norm 1e-12" in run.report()
    assert not run.converged.any()


@pytest.mark.parametrize("cache", [3_000_000, 1])
@pytest.mark.parametrize("optimizer", [GD(0.01), Momentum(0.01), Adam(0.01)])
@pytest.mark.parametrize("batches", [None, Shuffled(3)])
def test_one_trial_diverges_and_the_others_go_on(optimizer, batches, cache, monkeypatch) -> None:
    monkeypatch.setattr(_engine, "_CACHE_BYTES", cache)
    net = Dense((4, 3, 4), activation="identity", bias=False)
    X, weights = data(5, 4, 6), net.init(trials=5, dtype=F64)
    wild = X.clone()
    # Adam's steps are bounded: only an overflow stops it
    wild[2] *= 1e200 if isinstance(optimizer, Adam) else 300
    options = {"schedule": 10, "batches": batches}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        top = {"top": lambda s: torch.linalg.svdvals(s.post[0])[:, 0]}
        run = train(Objective(net, wild), weights, optimizer, 95, measure=top, **options)
    calm = train(Objective(net, X), weights, optimizer, 95, **options)
    assert run.diverged.tolist() == [False, False, True, False, False]
    at, kept = int(run.diverged_at[2]), int(run.steps[2])
    assert 0 <= kept <= at <= 95 and run.diverged_at[[0, 1, 3, 4]].tolist() == [-1] * 4
    others = [0, 1, 3, 4]
    for (W, _), (V, _) in zip(run.weights, calm.weights, strict=True):
        assert torch.allclose(W[others], V[others], rtol=1e-10, atol=1e-12)
        assert torch.isfinite(W[2]).all()
    for name in ("loss", "top"):
        trace = run.trace[name]
        assert torch.isfinite(trace[:, others]).all()
        after = torch.tensor(run.trace_steps) >= at
        assert torch.isnan(trace[after, 2]).all() and torch.isfinite(trace[~after, 2]).all()
        assert after.any()
    assert run.report().startswith(
        f"Trial 2 diverged, noticed at step {at}: its weights are those of step {kept}"
    )
    assert run.report().count("\n") == 0
    assert run.steps[others].tolist() == [95] * 4


def test_a_trial_that_diverges_at_the_last_step_is_noticed() -> None:
    net = Dense((2, 2), activation="identity", bias=False)
    weights = [(torch.zeros(1, 2, 2, dtype=F64), None)]
    task = Objective(net, 1e3 * torch.eye(2, dtype=F64))
    run = train(task, weights, GD(1.0), 3, schedule=[3])
    assert run.diverged_at.tolist() == [3] and run.steps.tolist() == [0]
    assert run.loss.item() == pytest.approx(2e6) and run.weights[0][0].abs().max() == 0
    assert run.trace["loss"][:, 0].isnan().tolist() == [False, True]


def test_weights_that_overflow_behind_dead_units_are_noticed() -> None:
    net = autoencoder(2, 2, bias=False)
    X = torch.full((1, 2, 3), 1e12)
    weights = [(torch.ones(1, 2, 2), None), (torch.ones(1, 2, 2), None)]
    run = train(Objective(net, X), weights, GD(1e20), 30)
    assert run.diverged.all() and all(torch.isfinite(t).all() for t in flat(run.weights))


def test_lbfgs_marks_a_start_that_overflows() -> None:
    net = Dense((2, 2), bias=False)
    X = data(2, 2, 5)
    X[1] *= 1e200
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        start = net.init(trials=2, dtype=F64)
        run = train(Objective(net, X), start, LBFGS(), 50, gradient_norm=1e-8)
    assert run.diverged.tolist() == [False, True] and run.converged.tolist() == [True, False]
    assert torch.isnan(run.trace["loss"][:, 1]).all()


@pytest.mark.parametrize("optimizer", [GD(0.01), Momentum(0.01), Adam(0.01)])
@pytest.mark.parametrize("batches", [None, Shuffled(8)])
def test_gradient_norm_stops_each_trial_where_it_should(optimizer, batches) -> None:
    net = Dense((3, 3), bias=False)
    X = data(6, 3, 8) * torch.linspace(0.4, 1.0, 6, dtype=F64)[:, None, None]
    weights, task = net.init(trials=6, dtype=F64), Objective(net, X)
    options = {"gradient_norm": 1e-2, "batches": batches}
    run = train(task, weights, optimizer, 4000, schedule=1000, **options)
    assert run.converged.all() and not run.diverged.any()
    assert bool((run.gradient_norm <= 1e-2).all()) and len(set(run.steps.tolist())) > 2
    assert run.trace_steps[-1] == int(run.steps.max())
    G = task.gradients(run.weights)
    assert torch.allclose(G[0][0].flatten(1).norm(dim=1), run.gradient_norm, rtol=1e-6)
    for i in (0, 5):  # one step earlier it was not there yet; a batch of all has no order
        cut = [(W[i : i + 1], None) for W, _ in weights]
        early = train(task.trial(i), cut, optimizer, int(run.steps[i]) - 1, batches=batches)
        assert early.gradient_norm.item() > 1e-2
    assert "down to a gradient norm of 0.01" in run.report()


def test_a_trial_at_its_optimum_does_not_move() -> None:
    net = Dense((2, 2), bias=False)
    weights = [(torch.eye(2, dtype=F64).expand(3, 2, 2), None)]
    run = train(Objective(net, data(2, 5)), weights, GD(0.005), 10, gradient_norm=1e-6)
    assert run.steps.tolist() == [0] * 3 and run.trace_steps == [0] and run.converged.all()
    assert torch.equal(run.weights[0][0], weights[0][0])


@given(steps=st.integers(0, 5000), k=st.integers(1, 5000))
def test_schedules(steps: int, k: int) -> None:
    for schedule in ("log", k, [min(k, steps), 0, min(k, steps)]):
        points = resolve(schedule, steps)
        assert points == sorted(set(points)) and points[0] == 0 and points[-1] == steps
    assert set(resolve(k, steps)) == {*range(0, steps + 1, k), steps}
    assert resolve([min(k, steps)], steps) == sorted({0, min(k, steps), steps})
    points = resolve("log", steps)
    assert len(points) <= 62 and set(range(min(steps, 5) + 1)) <= set(points)


@pytest.mark.parametrize("schedule", [1, 3, "log", [0, 1, 19]])
def test_traces_do_not_depend_on_the_schedule(schedule) -> None:
    net = Dense((4, 3, 4), activation="tanh")
    weights, X = net.init(trials=3, dtype=F64), data(3, 4, 6)
    steps, shapes = [], set()

    def look(state):
        steps.append(state.step)
        shapes.add((state.pre[0].shape, state.post[1].shape, state.X.shape))
        assert torch.equal(state.post[0], torch.tanh(state.pre[0]))
        return task.value(state.weights)

    task = Objective(net, X)
    measure = {"again": look, "flag": lambda s: torch.tensor([True] * 3)}
    run = train(task, weights, Adam(0.01), 20, measure=measure, schedule=schedule)
    assert steps == run.trace_steps == resolve(schedule, 20)
    assert shapes == {((3, 3, 6), (3, 4, 6), (3, 4, 6))}
    assert torch.allclose(run.trace["again"], run.trace["loss"], rtol=1e-12)
    assert run.trace["flag"].dtype == F64 and run.trace["loss"].shape == (len(steps), 3)
    for row, step in enumerate(steps):
        alone = train(task, weights, Adam(0.01), step)
        assert torch.allclose(run.trace["loss"][row], alone.loss, rtol=1e-12)


def test_shared_data_and_target() -> None:
    net = Dense((4, 3, 2), activation="gelu")
    weights, X, Y = net.init(trials=3, dtype=F64), data(4, 6), data(2, 6, seed=3)
    for how in ((GD(0.01), 20), (Adam(0.01), 20)):
        batches = Shuffled(4) if isinstance(how[0], Adam) else None
        shared = train(Objective(net, X, Y), weights, *how, batches=batches)
        repeated = Objective(net, X.repeat(3, 1, 1), Y.repeat(3, 1, 1))
        full = train(repeated, weights, *how, batches=batches)
        assert close(shared.weights, full.weights, 1e-12)


def test_progress_is_silent_unless_on_a_terminal_and_long(capsys, monkeypatch) -> None:
    net = autoencoder(3, 2)
    weights, task = net.init(), Objective(net, torch.ones(3, 4))
    train(task, weights, GD(0.001), 20)
    captured = capsys.readouterr()
    assert captured.err == "" and captured.out == ""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    train(task, weights, GD(0.001), 20)
    assert "training" not in screen.getvalue()  # over long before two seconds
    monkeypatch.setattr(Progress, "delay", 0.0)
    train(task, weights, GD(0.001), 20)
    assert "training" in screen.getvalue()


def test_an_error_in_a_measurement_or_activation_comes_through() -> None:
    net, before = autoencoder(4, 2), torch.get_num_threads()
    with pytest.raises(ZeroDivisionError):
        task = Objective(net, torch.ones(4, 3))
        train(task, net.init(), GD(0.01), 2, measure={"bad": lambda s: 1 / 0})
    with pytest.raises(ValueError, match=r"'bad' must have the shape \(2,\) or \(2, k\).*\(3,\)"):
        train(task, net.init(trials=2), GD(0.01), 2, measure={"bad": lambda s: torch.ones(3)})

    def broken(z):
        raise KeyError("mine")

    wrong = Dense((60, 20, 60), activation=broken)
    try:
        torch.set_num_threads(2)
        with pytest.raises(KeyError, match="mine"):
            train(Objective(wrong, torch.ones(60, 40)), wrong.init(trials=60), GD(0.01), 2)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: GD(0), "rate must be a number above 0 and finite; you gave 0"),
        (lambda: GD(float("nan")), "rate must be a number above 0.*nan"),
        (lambda: GD([0.1, -0.1]), "rate must be a finite number above 0, one such"),
        (lambda: GD([[0.1, 0.2]]), "rate must be a finite number above 0, one such"),
        (lambda: Momentum(0.1, 1.0), "beta must be a number 0 or above and below 1.*1.0"),
        (lambda: Adam(0.1, betas=(0.9,)), r"betas must be two numbers.*\(0.9,\)"),
        (lambda: Adam(0.1, betas=(0.9, 1.2)), "betas must be .*1.2"),
        (lambda: Adam([0.1, 0.2], fused=True), "a fused Adam has one rate for all trials"),
        (lambda: LBFGS(0), "memory must be a whole number, 1 or more; you gave 0"),
        (lambda: Shuffled(0), "size of a mini-batch must be a whole number, 1 or more.*0"),
        (lambda: Shuffled(2, seed=1.5), "seed must be a whole number.*1.5"),
        (lambda: Shuffled(2, first_trial=-1), "first_trial must be a whole number"),
    ],
)
def test_what_does_not_make_sense_alone_is_refused(make, says: str) -> None:
    with pytest.raises(ValueError, match=says) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"optimizer": "gd"}, "optimizer must be GD, Momentum, Adam or LBFGS.*'gd'"),
        ({"optimizer": GD([0.1] * 3)}, "one for each of the 2 trials; you gave 3"),
        ({"optimizer": LBFGS()}, "LBFGS needs float64 throughout; X is torch.float32"),
        ({"steps": -1}, "steps must be a whole number, 0 or more.*-1"),
        ({"steps": 2.5}, "steps must be a whole number.*2.5"),
        ({"gradient_norm": 0.0}, "gradient_norm must be a number above 0.*0.0"),
        ({"batches": Shuffled(9)}, "from 1 to the 5 samples there are; you gave 9"),
        ({"batches": 3}, "batches must be Shuffled or Drawn; you gave 3"),
        ({"schedule": 0}, "schedule must be 'log'.*gave 0"),
        ({"schedule": "linear"}, "schedule must be 'log'.*'linear'"),
        ({"schedule": [1, 99]}, "from 0 to 10; you gave 99"),
        ({"schedule": [float("nan")]}, "you gave nan"),
        ({"schedule": None}, "you gave None"),
        ({"measure": {"loss": lambda s: s}}, "may not use the name 'loss'"),
    ],
)
def test_refusals(options, says: str) -> None:
    net = autoencoder(4, 2)
    how = {"optimizer": GD(0.01), "steps": 10, **options}
    with pytest.raises(ValueError, match=says) as caught:
        train(Objective(net, torch.ones(4, 5)), net.init(trials=2), **how)
    assert "\n" not in str(caught.value)


def test_mini_batches_are_refused_where_all_samples_are_needed() -> None:
    net, eye = Dense((3, 1), activation="identity", bias=False), torch.eye(3, dtype=F64)
    start, one = net.init(dtype=F64), torch.ones(1, 3, dtype=F64)
    with pytest.raises(ValueError, match="LBFGS uses all samples"):
        train(Objective(net, eye, one), start, LBFGS(), 3, batches=Shuffled(2))
    with pytest.raises(ValueError, match="couples the samples"):
        train(Objective(net, eye, one, loss=Quadratic(eye)), start, GD(1), 3, batches=Shuffled(2))


@pytest.mark.parametrize("loss", training.NORMALIZATIONS)
def test_a_constant_answer_remains_whole_and_no_constant_leaves_less(loss) -> None:
    """The oracle is a network that knows nothing but its bias, trained by ``minimize``."""
    net, X, target = Dense((2, 3)), torch.zeros(2, 2, 7, dtype=F64), 5 + data(2, 3, 7, seed=3)
    zero = torch.zeros(2, 3, 2, dtype=F64)

    def left(bias):
        value = Objective(net, X, target, normalization=loss).value([(zero, bias)])
        return training.remaining(value, target, normalization=loss)

    def total(flat_bias):
        bias = torch.from_numpy(flat_bias).view(2, 3, 1).requires_grad_()
        value = autograd_loss(net, [(zero, bias)], X, target, 7).sum()
        return value.item(), torch.autograd.grad(value, bias)[0].flatten().numpy()

    best = minimize(total, torch.zeros(6, dtype=F64).numpy(), jac=True, tol=1e-12).x
    found = left(torch.from_numpy(best).view(2, 3, 1))
    torch.testing.assert_close(found, torch.ones(2, dtype=F64))
    assert (left(data(2, 3, 1, seed=4)) > 1).all()
    both = training.remaining(torch.zeros(4, 2), target, normalization=loss)
    assert both.shape == (4, 2) and not both.any()


def test_losses_over_a_constant_are_refused_if_they_do_not_fit() -> None:
    target = torch.ones(2, 3, 4)
    with pytest.raises(ValueError, match=r"each of the 2 trials .*; it has shape \(3,\)"):
        training.remaining(torch.ones(3), target)
    with pytest.raises(ValueError, match=r"normalization must be one of .*you gave 'total'"):
        training.remaining(torch.ones(2), target, normalization="total")
    for none in (torch.tensor(0.5), torch.ones(3, 0)):
        with pytest.raises(ValueError, match=r"each trial in its last dimension; it has shape"):
            training.learned(none)


def test_learned_asks_the_middle_trial_and_refuses_a_run_that_diverged() -> None:
    below, above = training.LEARNED - 1e-9, training.LEARNED
    asked = [[below, below, 9.0], [0.0, above, above], [0.0, 0.0, torch.nan]]
    assert training.learned(torch.tensor(asked, dtype=F64)).tolist() == [True, False, False]
