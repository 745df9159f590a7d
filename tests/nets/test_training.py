"""Training: gradients against autograd, methods against torch.optim and scipy, trial by trial."""

from __future__ import annotations

import io
import warnings

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.nets import _engine, training
from lowdim.nets._schedule import Progress, resolve
from lowdim.nets.networks import ACTIVATIONS, Dense, autoencoder
from lowdim.nets.training import gradients, objective, train
from scipy.optimize import minimize

F64 = torch.float64
OWN = {"own": lambda z: torch.sin(z) + 0.1 * z}


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


def autograd_loss(net, weights, X, target, loss: str, decay: float = 0.0):
    """The objective of each trial by ordinary torch, differentiable."""
    H = X
    for (W, b), act in zip(weights, net.activations, strict=True):
        Z = W @ H if b is None else W @ H + b
        name = act.name
        functional = torch.nn.functional
        H = (
            OWN["own"](Z)
            if name == "<lambda>"
            else (Z if name == "identity" else getattr(functional, name)(Z))
        )
    squares = (H - target).square().sum((1, 2))
    count = {"sum": 1, "sample": X.shape[2], "mean": X.shape[2] * H.shape[1]}[loss]
    return squares / count + decay / 2 * sum(t.square().sum((1, 2)) for t in flat(weights))


def close(a, b, tol: float = 1e-10) -> bool:
    return all(
        torch.allclose(s, t, rtol=tol, atol=tol) for s, t in zip(flat(a), flat(b), strict=True)
    )


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", [*ACTIVATIONS, "own"])
def test_gradients_against_autograd(name: str, bias: bool) -> None:
    act = OWN.get(name, name)
    for depth in (1, 2, 3, 4):
        for output in (None, act):
            net = Dense((5, 4, 6, 3, 5)[: depth + 1], activation=act, output=output, bias=bias)
            weights = net.init(trials=3, seed=depth, dtype=F64, kind="normal")
            X, Y = data(3, 5, 7, seed=1), data(3, net.widths[-1], 7, seed=2)
            for loss in training.NORMALIZATIONS:
                for decay in (0.0, 0.3):
                    tracked = leaves(weights)
                    wanted = autograd_loss(net, tracked, X, Y, loss, decay)
                    grads = torch.autograd.grad(wanted.sum(), flat(tracked))
                    options = {"loss": loss, "weight_decay": decay}
                    value = objective(net, weights, X, Y, **options)
                    ours = flat(gradients(net, weights, X, Y, **options))
                    assert torch.allclose(value, wanted.detach(), rtol=1e-12)
                    for mine, theirs in zip(ours, grads, strict=True):
                        assert torch.allclose(mine, theirs, rtol=1e-9, atol=1e-11)


@settings(max_examples=30, deadline=None)
@given(
    widths=st.lists(st.integers(1, 5), min_size=2, max_size=5),
    samples=st.integers(1, 6),
    trials=st.integers(1, 4),
    bias=st.booleans(),
    seed=st.integers(0, 999),
)
def test_gradient_predicts_the_change(widths, samples, trials, bias, seed) -> None:
    net = Dense(tuple(widths), activation="tanh", bias=bias)
    weights = net.init(trials=trials, seed=seed, dtype=F64)
    X, Y = data(trials, widths[0], samples, seed=seed), data(trials, widths[-1], samples, seed=1)
    way = net.init(trials=trials, seed=seed + 1, kind="normal", dtype=F64)
    h = 1e-5

    def moved(sign: float):
        return [
            (W + sign * h * V, None if b is None else b + sign * h * c)
            for (W, b), (V, c) in zip(weights, way, strict=True)
        ]

    slope = (objective(net, moved(1), X, Y) - objective(net, moved(-1), X, Y)) / (2 * h)
    G = gradients(net, weights, X, Y)
    inner = sum((g * v).sum((1, 2)) for g, v in zip(flat(G), flat(way), strict=True))
    assert torch.allclose(slope, inner, rtol=1e-5, atol=1e-6)


OPTIMIZERS = {
    "gd": lambda p, decay: torch.optim.SGD(p, lr=0.01, weight_decay=decay),
    "momentum": lambda p, decay: torch.optim.SGD(p, lr=0.01, momentum=0.8, weight_decay=decay),
    "adam": lambda p, decay: torch.optim.Adam(p, lr=0.01, betas=(0.8, 0.99), weight_decay=decay),
}


@pytest.mark.parametrize("decay", [0.0, 0.2])
@pytest.mark.parametrize("method", OPTIMIZERS)
def test_methods_against_torch_optim(method: str, decay: float) -> None:
    net = Dense((6, 4, 6), activation="tanh")
    weights, X = net.init(trials=3, seed=4, dtype=F64), data(3, 6, 9)
    run = train(net, weights, X, method=method, rate=0.01, steps=57, momentum=0.8,
                betas=(0.8, 0.99), weight_decay=decay, loss="sample")  # fmt: skip
    for t in range(3):
        own = leaves(weights, trial=t)
        optimizer = OPTIMIZERS[method](flat(own), decay)
        for _ in range(57):
            optimizer.zero_grad()
            autograd_loss(net, own, X[t : t + 1], X[t : t + 1], "sample").sum().backward()
            optimizer.step()
        ours = [(W[t : t + 1], b[t : t + 1]) for W, b in run.weights]
        assert close(ours, [(W.detach(), b.detach()) for W, b in own])
    assert torch.allclose(
        run.objective, objective(net, run.weights, X, loss="sample", weight_decay=decay)
    )
    assert torch.allclose(run.loss, objective(net, run.weights, X, loss="sample"))
    G = gradients(net, run.weights, X, loss="sample", weight_decay=decay)
    assert torch.allclose(run.gradient_norm, sum(g.square().sum((1, 2)) for g in flat(G)).sqrt())
    assert run.steps.tolist() == [57] * 3 and not run.converged.any()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu", ("tanh", "sigmoid", "leaky_relu")])
def test_fused_descent_equals_the_general_path(activation, bias: bool) -> None:
    net = Dense((6, 5, 4, 6), activation=activation, bias=bias)
    weights, X = net.init(trials=5, dtype=F64), data(5, 6, 8)
    options = {"rate": 0.002, "steps": 40, "weight_decay": 0.1}
    fused = train(net, weights, X, **options)
    # a gradient norm that is never reached takes the path that forms gradients
    general = train(net, weights, X, gradient_norm=1e-200, **options)
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
    run = train(net, weights, X, rate=0.01, steps=25)
    assert close(run.weights, [(W1, None), (W2, None)], 1e-12)


def test_inputs_are_left_alone() -> None:
    net = autoencoder(4, 2)
    weights, X = net.init(trials=2), data(2, 4, 5, dtype=torch.float32)
    before, X_before = [t.clone() for t in flat(weights)], X.clone()
    run = train(net, weights, X, rate=0.01, steps=5)
    assert all(torch.equal(a, b) for a, b in zip(before, flat(weights), strict=True))
    assert torch.equal(X, X_before) and not torch.equal(run.weights[0][0], weights[0][0])


@pytest.mark.parametrize(
    "options",
    [
        {"method": "gd"},
        {"method": "gd", "gradient_norm": 0.3},
        {"method": "sgd", "batch": 4},
        {"method": "momentum", "batch": 3, "rate": 0.003},
        {"method": "adam"},
        {"method": "lbfgs", "steps": 12},
    ],
)
@pytest.mark.parametrize("cache", [3_000_000, 1])
def test_a_trial_alone_is_that_trial_of_many(options, cache: int, monkeypatch) -> None:
    monkeypatch.setattr(_engine, "_CACHE_BYTES", cache)
    net = Dense((6, 4, 6), activation="relu")
    X = data(5, 6, 9)
    options = {"rate": 0.01, "steps": 60, "seed": 7, **options}
    norm = {
        "norm": lambda s: s.weights[0][0].flatten(1).norm(dim=1),
        "pair": lambda s: s.post[0][:, :2, 0],
    }
    many = train(net, net.init(trials=5, seed=7, dtype=F64), X, measure=norm, schedule=7, **options)
    for i in (0, 3):
        weights = net.init(trials=1, first_trial=i, seed=7, dtype=F64)
        alone = train(
            net, weights, X[i : i + 1], measure=norm, schedule=7, first_trial=i, **options
        )
        tol = 1e-6 if options["method"] == "lbfgs" else 1e-11
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
            for options in ({"method": "gd"}, {"method": "sgd", "batch": 16}):
                runs.append(train(net, weights, X, rate=1e-4, steps=30, schedule=10, **options))
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
        train(net, net.init(trials=4), data(4, 4, 5, dtype=torch.float32), rate=0.01, steps=3)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert seen == {(i, i + 1, 1) for i in range(4)}


def test_sgd_goes_once_through_all_samples_each_epoch() -> None:
    # At a tiny rate the three updates of an epoch add up to the gradient over all samples.
    net = Dense((3, 2), bias=True)
    weights, X, Y = net.init(trials=2, dtype=F64), data(2, 3, 10), data(2, 2, 10, seed=1)
    rate = 1e-7
    run = train(net, weights, X, Y, method="sgd", batch=4, rate=rate, steps=3)
    G = gradients(net, weights, X, Y)
    for (W, b), (V, c), (g, h) in zip(run.weights, weights, G, strict=True):
        assert torch.allclose((V - W) / rate, g, rtol=1e-4, atol=1e-4)
        assert torch.allclose((c - b) / rate, h, rtol=1e-4, atol=1e-4)
    other = train(net, weights, X, Y, method="sgd", batch=4, rate=0.01, steps=3, seed=1)
    again = train(net, weights, X, Y, method="sgd", batch=4, rate=0.01, steps=3, seed=1)
    third = train(net, weights, X, Y, method="sgd", batch=4, rate=0.01, steps=3, seed=2)
    assert torch.equal(other.weights[0][0], again.weights[0][0])
    assert not torch.equal(other.weights[0][0], third.weights[0][0])


def test_a_batch_of_everything_is_full_descent() -> None:
    net = Dense((4, 3, 4), activation="silu")
    weights, X = net.init(trials=3, dtype=F64), data(3, 4, 6)
    for loss in training.NORMALIZATIONS:
        full = train(net, weights, X, rate=0.01, steps=30, loss=loss)
        batch = train(net, weights, X, method="sgd", batch=6, rate=0.01, steps=30, loss=loss)
        assert close(full.weights, batch.weights, 1e-11)


def test_lbfgs_finds_what_scipy_and_least_squares_find() -> None:
    net = Dense((4, 3))
    weights, X, Y = net.init(trials=3, dtype=F64), data(3, 4, 20), data(3, 3, 20, seed=5)
    run = train(net, weights, X, Y, method="lbfgs", gradient_norm=1e-9, steps=500)
    assert run.converged.all() and bool((run.gradient_norm <= 1e-9).all())
    assert "without a problem" in run.report()
    ones = torch.cat([X, torch.ones(3, 1, 20, dtype=F64)], dim=1)
    best = torch.linalg.lstsq(ones.mT, Y.mT).solution.mT
    assert torch.allclose(torch.cat(run.weights[0], dim=2), best, atol=1e-9)

    deep = Dense((4, 3, 4), activation="tanh")
    start, X = deep.init(trials=2, dtype=F64), data(2, 4, 15)
    run = train(deep, start, X, method="lbfgs", gradient_norm=1e-7, steps=5000, weight_decay=0.1)
    assert run.converged.all()
    G = gradients(deep, run.weights, X, weight_decay=0.1)
    assert bool((sum(g.square().sum((1, 2)) for g in flat(G)).sqrt() <= 1.01e-7).all())
    for t in range(2):
        shapes = [p[t : t + 1].shape for p in flat(start)]

        def fun(x, t=t, shapes=shapes):
            parts, own = torch.from_numpy(x).clone().requires_grad_(), []
            pieces = torch.split(parts, [s.numel() for s in shapes])
            tensors = [p.view(s) for p, s in zip(pieces, shapes, strict=True)]
            own = list(zip(tensors[::2], tensors[1::2], strict=True))
            value = autograd_loss(deep, own, X[t : t + 1], X[t : t + 1], "sum", 0.1).sum()
            (g,) = torch.autograd.grad(value, parts)
            return value.item(), g.numpy()

        x0 = torch.cat([p[t].reshape(-1) for p in flat(start)]).numpy()
        found = minimize(fun, x0, jac=True, method="BFGS", options={"gtol": 1e-6, "maxiter": 5000})
        assert run.objective[t].item() <= found.fun + 1e-5 * abs(found.fun)


def test_lbfgs_stops_at_the_first_point_that_will_do() -> None:
    net = Dense((4, 3))
    weights, X, Y = net.init(trials=4, dtype=F64), data(4, 4, 20), data(4, 3, 20, seed=5)
    run = train(net, weights, X, Y, method="lbfgs", gradient_norm=1e-3, steps=500)
    assert run.converged.all()
    for t in range(4):
        cut = [(W[t : t + 1], b[t : t + 1]) for W, b in weights]
        options = {"method": "lbfgs", "gradient_norm": 1e-3, "steps": int(run.steps[t]) - 1}
        early = train(net, cut, X[t : t + 1], Y[t : t + 1], **options)
        assert early.gradient_norm.item() > 1e-3 and not early.converged.any()


def test_lbfgs_traces_and_says_when_it_falls_short() -> None:
    net = autoencoder(5, 2, activation="tanh")
    weights, X = net.init(trials=3, dtype=F64), data(3, 5, 12)
    measure = {"loss again": lambda s: objective(net, s.weights, s.X)}
    run = train(net, weights, X, method="lbfgs", steps=9, schedule=2, gradient_norm=1e-12,
                measure=measure)  # fmt: skip
    assert run.trace_steps == [0, 2, 4, 6, 8, 9] and run.steps.tolist() == [9] * 3
    assert torch.allclose(run.trace["loss"], run.trace["loss again"], rtol=1e-10)
    assert torch.allclose(run.trace["loss"][0], objective(net, weights, X))
    assert torch.allclose(run.trace["loss"][-1], run.loss)
    assert bool((run.trace["loss"].diff(dim=0) < 0).all())
    assert "3 of 3 trials did not reach the gradient norm 1e-12" in run.report()
    assert not run.converged.any()


@pytest.mark.parametrize("cache", [3_000_000, 1])
@pytest.mark.parametrize("method", ["gd", "momentum", "adam", "sgd"])
def test_one_trial_diverges_and_the_others_go_on(method: str, cache: int, monkeypatch) -> None:
    monkeypatch.setattr(_engine, "_CACHE_BYTES", cache)
    net = Dense((4, 3, 4), activation="identity", bias=False)
    X, weights = data(5, 4, 6), net.init(trials=5, dtype=F64)
    batch = 3 if method == "sgd" else None
    options = {"method": method, "rate": 0.01, "steps": 95, "schedule": 10, "batch": batch}
    wild = X.clone()
    wild[2] *= 1e160 if method == "adam" else 300
    if method == "adam":  # Adam's steps are bounded: only an overflow stops it
        wild[2] = X[2] * 1e200
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = train(
            net,
            weights,
            wild,
            **options,
            measure={"top": lambda s: torch.linalg.svdvals(s.post[0])[:, 0]},
        )
    calm = train(net, weights, X, **options)
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
    run = train(net, weights, 1e3 * torch.eye(2, dtype=F64), rate=1.0, steps=3, schedule=[3])
    assert run.diverged_at.tolist() == [3] and run.steps.tolist() == [0]
    assert run.loss.item() == pytest.approx(2e6) and run.weights[0][0].abs().max() == 0
    assert run.trace["loss"][:, 0].isnan().tolist() == [False, True]


def test_weights_that_overflow_behind_dead_units_are_noticed() -> None:
    net = autoencoder(2, 2, bias=False)
    X = torch.full((1, 2, 3), 1e12)
    weights = [(torch.ones(1, 2, 2), None), (torch.ones(1, 2, 2), None)]
    run = train(net, weights, X, rate=1e20, steps=30)
    assert run.diverged.all() and all(torch.isfinite(t).all() for t in flat(run.weights))


def test_lbfgs_marks_a_start_that_overflows() -> None:
    net = Dense((2, 2), bias=False)
    X = data(2, 2, 5)
    X[1] *= 1e200
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = train(
            net, net.init(trials=2, dtype=F64), X, method="lbfgs", steps=50, gradient_norm=1e-8
        )
    assert run.diverged.tolist() == [False, True] and run.converged.tolist() == [True, False]
    assert torch.isnan(run.trace["loss"][:, 1]).all()


@pytest.mark.parametrize("method", ["gd", "momentum", "adam", "sgd"])
def test_gradient_norm_stops_each_trial_where_it_should(method: str) -> None:
    net = Dense((3, 3), bias=False)
    X = data(6, 3, 8) * torch.linspace(0.4, 1.0, 6, dtype=F64)[:, None, None]
    weights = net.init(trials=6, dtype=F64)
    batch = 8 if method == "sgd" else None
    options = {"method": method, "rate": 0.01, "steps": 4000, "batch": batch}
    run = train(net, weights, X, gradient_norm=1e-2, schedule=1000, **options)
    assert run.converged.all() and not run.diverged.any()
    assert bool((run.gradient_norm <= 1e-2).all()) and len(set(run.steps.tolist())) > 2
    assert run.trace_steps[-1] == int(run.steps.max())
    G = gradients(net, run.weights, X)
    assert torch.allclose(G[0][0].flatten(1).norm(dim=1), run.gradient_norm, rtol=1e-6)
    for i in (0, 5):  # one step earlier it was not there yet
        before = int(run.steps[i]) - 1
        cut = [(W[i : i + 1], None) for W, _ in weights]
        early = train(net, cut, X[i : i + 1], **(options | {"steps": before}), first_trial=i)
        assert early.gradient_norm.item() > 1e-2
    assert "down to a gradient norm of 0.01" in run.report()


def test_a_trial_at_its_optimum_does_not_move() -> None:
    net = Dense((2, 2), bias=False)
    weights = [(torch.eye(2, dtype=F64).expand(3, 2, 2), None)]
    run = train(net, weights, data(2, 5), gradient_norm=1e-6, steps=10)
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
        return objective(net, state.weights, X)

    options = {"rate": 0.01, "method": "adam", "steps": 20}
    measure = {"again": look, "flag": lambda s: torch.tensor([True] * 3)}
    run = train(net, weights, X, measure=measure, schedule=schedule, **options)
    assert steps == run.trace_steps == resolve(schedule, 20)
    assert shapes == {((3, 3, 6), (3, 4, 6), (3, 4, 6))}
    assert torch.allclose(run.trace["again"], run.trace["loss"], rtol=1e-12)
    assert run.trace["flag"].dtype == F64 and run.trace["loss"].shape == (len(steps), 3)
    for row, step in enumerate(steps):
        alone = train(net, weights, X, **(options | {"steps": step}))
        assert torch.allclose(run.trace["loss"][row], alone.loss, rtol=1e-12)


def test_shared_data_and_target() -> None:
    net = Dense((4, 3, 2), activation="gelu")
    weights, X, Y = net.init(trials=3, dtype=F64), data(4, 6), data(2, 6, seed=3)
    for options in ({}, {"method": "adam", "batch": 4}):
        shared = train(net, weights, X, Y, rate=0.01, steps=20, **options)
        full = train(
            net, weights, X.repeat(3, 1, 1), Y.repeat(3, 1, 1), rate=0.01, steps=20, **options
        )
        assert close(shared.weights, full.weights, 1e-12)


def test_progress_is_silent_unless_on_a_terminal(capsys, monkeypatch) -> None:
    net = autoencoder(3, 2)
    weights, X = net.init(), torch.ones(3, 4)
    train(net, weights, X, rate=0.001, steps=20)
    train(net, weights, X, rate=0.001, steps=20, progress=False)
    captured = capsys.readouterr()
    assert captured.err == "" and captured.out == ""
    train(net, weights, X, rate=0.001, steps=20, progress=True)
    assert "training" in capsys.readouterr().err

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    train(net, weights, X, rate=0.001, steps=20)
    assert "training" not in screen.getvalue()  # over long before two seconds
    bar = Progress(10, None)
    assert not bar.hidden and bar.delay == 2.0


def test_an_error_in_a_measurement_or_activation_comes_through() -> None:
    net, before = autoencoder(4, 2), torch.get_num_threads()
    with pytest.raises(ZeroDivisionError):
        train(net, net.init(), torch.ones(4, 3), steps=2, measure={"bad": lambda s: 1 / 0})
    with pytest.raises(ValueError, match=r"'bad' must have the shape \(2,\) or \(2, k\).*\(3,\)"):
        train(net, net.init(trials=2), torch.ones(4, 3), measure={"bad": lambda s: torch.ones(3)})

    def broken(z):
        raise KeyError("mine")

    wrong = Dense((60, 20, 60), activation=broken)
    try:
        torch.set_num_threads(2)
        with pytest.raises(KeyError, match="mine"):
            train(wrong, wrong.init(trials=60), torch.ones(60, 40), steps=2)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "newton"}, "method must be one of 'gd', 'sgd'.*'newton'"),
        ({"loss": "avg"}, "loss must be one of 'sum', 'sample', 'mean'; you gave 'avg'"),
        ({"rate": 0}, "rate must be a number above 0.*gave 0"),
        ({"rate": float("nan")}, "rate must be a number above 0.*nan"),
        ({"steps": -1}, "steps must be a whole number, 0 or more.*-1"),
        ({"steps": 2.5}, "steps must be a whole number.*2.5"),
        ({"momentum": 1.0}, "momentum must be a number from 0 up to 1.*1.0"),
        ({"betas": (0.9,)}, r"betas must be two numbers.*\(0.9,\)"),
        ({"betas": (0.9, 1.2)}, "betas must be .*1.2"),
        ({"weight_decay": -0.1}, "weight_decay must be a number 0 or above.*-0.1"),
        ({"gradient_norm": 0.0}, "gradient_norm must be a number above 0.*0.0"),
        ({"method": "sgd"}, "'sgd' needs batch"),
        ({"batch": 2}, "'gd' uses all samples.*batch = 2"),
        ({"method": "adam", "batch": 9}, "from 1 to the 5 samples there are; you gave 9"),
        ({"method": "lbfgs"}, "needs float64 throughout; X is torch.float32"),
        ({"schedule": 0}, "schedule must be 'log'.*gave 0"),
        ({"schedule": "linear"}, "schedule must be 'log'.*'linear'"),
        ({"schedule": [1, 99]}, "from 0 to 10; you gave 99"),
        ({"schedule": [float("nan")]}, "you gave nan"),
        ({"schedule": None}, "you gave None"),
        ({"measure": {"loss": lambda s: s}}, "may not use the name 'loss'"),
        ({"target": torch.ones(3, 5)}, r"target needs the shape \(2, 4, n\).*\(3, 5\)"),
        ({"target": torch.ones(4, 6)}, "they have 6 and 5 samples"),
        ({"target": torch.full((4, 5), float("nan"))}, "target must be finite"),
        ({"target": 3}, "must be torch tensors"),
        ({"seed": 1.5, "method": "sgd", "batch": 2}, "seed must be a whole number.*1.5"),
        ({"first_trial": -1}, "first_trial must be a whole number"),
    ],
)
def test_refusals(options, says: str) -> None:
    net = autoencoder(4, 2)
    with pytest.raises(ValueError, match=says) as caught:
        train(net, net.init(trials=2), torch.ones(4, 5), **({"steps": 10} | options))
    assert "\n" not in str(caught.value)


def test_refuses_weights_and_data_that_are_not_finite_or_do_not_fit() -> None:
    net = Dense((4, 2))
    with pytest.raises(ValueError, match=r"without a target .* \(4, 2\)"):
        train(net, net.init(), torch.ones(4, 5))
    X = torch.ones(4, 5)
    X[0, 0] = torch.inf
    with pytest.raises(ValueError, match="X must be finite"):
        train(net, net.init(), X, torch.ones(2, 5))
    weights = net.init()
    weights[0][0][0, 0, 0] = torch.nan
    with pytest.raises(ValueError, match="weights must be finite"):
        objective(net, weights, torch.ones(4, 5), torch.ones(2, 5))


@pytest.mark.parametrize("loss", training.NORMALIZATIONS)
def test_a_constant_answer_remains_whole_and_no_constant_leaves_less(loss) -> None:
    """The oracle is a network that knows nothing but its bias, trained by ``minimize``."""
    net, X, target = Dense((2, 3)), torch.zeros(2, 2, 7, dtype=F64), 5 + data(2, 3, 7, seed=3)
    zero = torch.zeros(2, 3, 2, dtype=F64)

    def left(bias):
        value = objective(net, [(zero, bias)], X, target, loss=loss)
        return training.remaining(value, target, normalization=loss)

    def total(flat_bias):
        bias = torch.from_numpy(flat_bias).view(2, 3, 1).requires_grad_()
        value = autograd_loss(net, [(zero, bias)], X, target, loss).sum()
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
