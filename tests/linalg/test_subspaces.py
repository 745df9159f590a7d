"""Principal row spaces and their distances: oracles, identities, extremes, refusals."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import scipy.linalg
import scipy.stats
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.linalg import _krylov, parallel, subspaces
from lowdim.linalg.subspaces import distance, principal, principal_angles, principal_rows, sines

METHODS = ("svd", "gram", "iterate")
SHAPES = ((12, 20), (20, 12), (15, 15), (1, 9), (9, 1), (40, 130), (130, 40))


def generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def orthonormal(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    return np.linalg.qr(rng.standard_normal((n, k)))[0]


def with_values(rng: np.random.Generator, m: int, n: int, values) -> np.ndarray:
    """A matrix (m, n) with these singular values; missing ones are zero."""
    k = len(values)
    return (orthonormal(rng, m, k) * np.asarray(values)) @ orthonormal(rng, n, k).T


def spectrum(r: int, k: int, *, condition: float = 4.0, ratio: float = 0.5) -> np.ndarray:
    """r values from ``condition`` down to 1 and k - r from ``ratio`` downwards."""
    head = np.geomspace(condition, 1, r) if r > 1 else np.ones(1)
    return np.concatenate([head, ratio * np.linspace(1, 0.1, k - r)])


def tensor(A: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(A))


def bases(seed: int, n: int, r: int, batch: tuple[int, ...] = ()) -> torch.Tensor:
    rng = generator(seed)
    return torch.linalg.qr(tensor(rng.standard_normal((*batch, n, r)))).Q


def turned(seed: int, n: int, angles) -> tuple[torch.Tensor, torch.Tensor]:
    """Two bases (n, r) whose principal angles are known, in general position."""
    r = len(angles)
    Q = orthonormal(generator(seed), n, 2 * r)
    U, away = Q[:, :r], Q[:, r:]
    V = U * np.cos(angles) + away * np.sin(angles)
    return tensor(U), tensor(V @ orthonormal(generator(seed + 1), r, r))


# --- against other people's code ------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", SHAPES)
def test_basis_and_values_agree_with_numpy(shape, method):
    m, n = shape
    k = min(m, n)
    r = min(4, k)
    A = with_values(generator(m + n), m, n, spectrum(r, k))
    found = principal(A, r, method=method)
    _, values, right = np.linalg.svd(A, full_matrices=False)
    np.testing.assert_allclose(found.values.numpy(), values[:r], rtol=1e-12)
    assert distance(found.basis, tensor(right[:r].T)) < 1e-11
    eye = torch.eye(r, dtype=torch.float64)
    assert (found.basis.mT @ found.basis - eye).abs().max() < 1e-13


def test_angles_agree_with_scipy():
    for seed, (n, r) in enumerate([(5, 1), (9, 4), (30, 12), (12, 11), (6, 6)]):
        U, V = bases(seed, n, r), bases(seed + 50, n, r)
        expected = scipy.linalg.subspace_angles(U.numpy(), V.numpy())
        np.testing.assert_allclose(principal_angles(U, V).numpy(), expected, atol=2e-14)


def test_singular_values_and_spectral_norm_agree_with_numpy():
    rng = generator(3)
    for shape in SHAPES:
        A = rng.standard_normal((3, *shape))
        values = np.linalg.svd(A, compute_uv=False)
        np.testing.assert_allclose(subspaces.singular_values(A).numpy(), values, rtol=1e-12)
        np.testing.assert_allclose(subspaces.spectral_norm(A).numpy(), values[:, 0], rtol=1e-13)


def test_the_row_space_of_a_deficient_matrix_has_its_rank():
    A = with_values(generator(0), 9, 7, [3.0, 2.0, 1e-3])
    V = subspaces.row_space(A)
    assert V.shape == (7, 3)
    assert np.abs(A - A @ (V @ V.mT).numpy()).max() < 1e-14
    assert subspaces.row_space(np.zeros((3, 4))).shape == (4, 0)
    single = tensor(A).float()
    assert subspaces.row_space(single).shape == (7, 3)
    assert subspaces.row_space([[0.1, 0.2], [0.3, 0.6]]).dtype == torch.float64


# --- angles near zero and near a right angle ------------------------------------------------------


@pytest.mark.parametrize("angle", [1e-9, 1e-12, 1e-6, 0.3])
def test_small_angles_keep_their_digits(angle):
    # U is made of unit vectors, so the rotation is exact to the last bit of sin and cos.
    angles = np.array([1.0, 0.5, 0.25]) * angle
    n, r = 8, 3
    U = torch.eye(n, dtype=torch.float64)[:, :r]
    V = torch.zeros(n, r, dtype=torch.float64)
    for j, a in enumerate(angles):
        V[j, j], V[r + j, j] = np.cos(a), np.sin(a)
    close = {"rtol": 1e-9, "atol": 0}
    np.testing.assert_allclose(sines(U, V).numpy(), np.sin(angles), **close)
    np.testing.assert_allclose(principal_angles(U, V).numpy(), angles, **close)
    fro = 2**0.5 * np.linalg.norm(np.sin(angles))
    np.testing.assert_allclose(distance(U, V).item(), fro, **close)
    np.testing.assert_allclose(distance(U, V, norm="spectral").item(), np.sin(angle), **close)
    largest = np.sin(angle) * np.cos(angle)
    if angle < 0.1:
        np.testing.assert_allclose(distance(U, V, norm="max").item(), largest, **close)


def test_angles_of_1e_9_in_general_position():
    angles = np.array([1.0, 0.7, 0.2, 0.1]) * 1e-9
    U, V = turned(4, 50, angles)
    close = {"rtol": 1e-6, "atol": 0}
    np.testing.assert_allclose(sines(U, V).numpy(), angles, rtol=1e-5)
    np.testing.assert_allclose(principal_angles(U, V)[0].item(), 1e-9, **close)
    np.testing.assert_allclose(distance(U, V, norm="spectral").item(), 1e-9, **close)
    np.testing.assert_allclose(distance(U, V).item(), 2**0.5 * np.linalg.norm(angles), **close)
    # the formula that is not used loses every digit here
    naive = (2 * 4 - 2 * (U.mT @ V).square().sum()).clamp_min(0).sqrt().item()
    assert abs(naive / distance(U, V).item() - 1) > 0.5


def test_orthogonal_spaces_and_angles_near_ninety_degrees():
    Q = bases(1, 9, 6)
    U, V = Q[:, :3], Q[:, 3:]
    assert sines(U, V).tolist() == pytest.approx([1, 1, 1], abs=1e-15)
    assert distance(U, V).item() == pytest.approx(6**0.5, rel=1e-15)
    assert distance(U, V, norm="spectral").item() == pytest.approx(1, abs=1e-15)
    short = np.array([1e-9, 2e-9, 0.5])
    U, V = turned(2, 20, np.pi / 2 - short)
    found = np.sort((np.pi / 2 - principal_angles(U, V)).numpy())
    np.testing.assert_allclose(found, short, rtol=1e-6)


def test_a_space_is_at_distance_zero_from_itself():
    U = bases(7, 40, 5)
    for norm in ("fro", "spectral", "max"):
        assert distance(U, U, norm=norm) < 1e-15


# --- identities -----------------------------------------------------------------------------------

sizes = st.tuples(st.integers(1, 6), st.integers(0, 8)).map(lambda p: (p[0], p[0] + p[1]))


@settings(max_examples=30, deadline=None)
@given(sizes, st.integers(0, 10**6), st.sampled_from([1e-8, 1e-3, 1.0]))
def test_distances_are_those_of_the_projectors(rn, seed, near):
    r, n = rn
    U = bases(seed, n, r)
    V = torch.linalg.qr(U + near * tensor(generator(seed + 1).standard_normal((n, r)))).Q
    formed = (U @ U.mT - V @ V.mT).numpy()
    s = sines(U, V).numpy()
    assert distance(U, V).item() == pytest.approx(2**0.5 * np.linalg.norm(s), rel=1e-12, abs=1e-15)
    assert distance(U, V).item() == pytest.approx(np.linalg.norm(formed), abs=1e-14)
    assert distance(U, V, norm="spectral").item() == pytest.approx(s[0], rel=1e-9, abs=1e-15)
    assert distance(U, V, norm="max").item() == pytest.approx(np.abs(formed).max(), abs=1e-14)


@settings(max_examples=30, deadline=None)
@given(sizes, st.integers(0, 10**6), st.sampled_from(["fro", "spectral", "max"]))
def test_distance_is_a_metric_on_spaces(rn, seed, norm):
    r, n = rn
    U, V, W = (bases(seed + i, n, r) for i in range(3))
    turn = tensor(orthonormal(generator(seed + 9), r, r))
    uv = distance(U, V, norm=norm).item()
    assert distance(V, U, norm=norm).item() == pytest.approx(uv, abs=1e-14)
    assert distance(U @ turn, V @ turn.mT, norm=norm).item() == pytest.approx(uv, abs=1e-14)
    through = distance(U, W, norm=norm).item() + distance(W, V, norm=norm).item()
    assert uv <= through + 1e-13


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 5), st.integers(0, 10**6), st.sampled_from(METHODS))
def test_the_row_space_forgets_what_is_done_to_the_rows(r, seed, method):
    rng = generator(seed)
    A = with_values(rng, 11, 14, spectrum(r, 11))
    turned_rows = orthonormal(rng, 11, 11) @ A
    gap = distance(
        principal_rows(A, r, method=method), principal_rows(turned_rows, r, method=method)
    )
    assert gap < 1e-12


def test_the_largest_entry_is_found_in_every_block_of_rows():
    # four blocks of a thousand rows, and only the two in the middle hold anything
    n = 4000
    U = torch.zeros(n, 1, dtype=torch.float64)
    V = torch.zeros(n, 1, dtype=torch.float64)
    U[1500], V[1500], V[2500] = 1, np.cos(0.3), np.sin(0.3)
    assert distance(U, V, norm="max").item() == pytest.approx(np.sin(0.3) * np.cos(0.3), rel=1e-12)


def test_gap_is_a_difference_of_singular_values_and_a_missing_one_is_zero():
    A = torch.diag(torch.tensor([5.0, 3.0, 1.0], dtype=torch.float64))
    B = torch.diag(torch.tensor([9.0, 4.0, 2.0], dtype=torch.float64))
    assert subspaces.gap(A, B, 1).item() == pytest.approx(1)
    assert subspaces.gap(A, B, 2).item() == pytest.approx(1)
    assert subspaces.gap(A, 3 * B, 2).item() == pytest.approx(-3)
    assert subspaces.gap(A, B, 3).item() == pytest.approx(1)
    assert subspaces.gap(A, B[:1], 2).item() == pytest.approx(3)


# --- the methods, and what they say about their own error -----------------------------------------


@pytest.mark.parametrize("condition", [1.0, 20.0, 1e3, 1e6])
@pytest.mark.parametrize("shape", [(60, 90), (90, 60), (70, 70)])
def test_methods_agree_whatever_the_conditioning(shape, condition):
    A = with_values(generator(5), *shape, spectrum(6, 60, condition=condition))
    found = [principal(A, 6, method=method) for method in METHODS]
    for other in found[1:]:
        assert distance(found[0].basis, other.basis) < 1e-10
        np.testing.assert_allclose(other.values.numpy(), found[0].values.numpy(), rtol=1e-11)


@pytest.mark.parametrize("scale", [1e-150, 1e150, 1e-300])
@pytest.mark.parametrize("method", METHODS)
def test_tiny_and_huge_matrices(method, scale):
    A = with_values(generator(6), 30, 45, spectrum(3, 30))
    expected = principal(A, 3, method="svd")
    found = principal(A * scale, 3, method=method)
    assert distance(found.basis, expected.basis) < 1e-11
    np.testing.assert_allclose((found.values / scale).numpy(), expected.values.numpy(), rtol=1e-12)
    norm = subspaces.spectral_norm(A * scale).item() / scale
    assert norm == pytest.approx(expected.values[0].item(), rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_near_tie_is_reported_and_not_certified(method):
    for tie in (1e-10, 1e-13, 0.0):
        A = with_values(generator(8), 40, 50, [4.0, 3.0, 2.0, 2.0 * (1 - tie), *[1.0] * 36])
        error = principal(A, 3, method=method).error.item()
        assert error >= min(1.0, 1e-17 / max(tie, 1e-17)), f"{error} for a tie of {tie}"
    assert principal(A, 3, method=method).error.item() > 0.1
    assert principal(A, 4, method=method).error.item() < 1e-11


@pytest.mark.parametrize("method", METHODS)
def test_rank_deficient_input_has_an_error_of_one_beyond_its_rank(method):
    A = with_values(generator(9), 20, 30, [3.0, 2.0])
    exact = principal(A, 2, method=method)
    assert exact.error < 1e-11
    assert distance(exact.basis, subspaces.row_space(A)) < 1e-12
    beyond = principal(A, 4, method=method)
    assert beyond.error > 1e-3
    eye = torch.eye(4, dtype=torch.float64)
    assert (beyond.basis.mT @ beyond.basis - eye).abs().max() < 1e-12
    assert distance(beyond.basis[:, :2], exact.basis) < 1e-11


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", [(5, 7), (7, 5), (6, 6), (40, 60)])
def test_a_zero_matrix_has_a_basis_and_no_certificate(shape, method):
    stack = torch.stack([torch.zeros(shape), torch.ones(shape), torch.eye(*shape)]).double()
    found = principal(stack, 3, method=method)
    eye = torch.eye(3, dtype=torch.float64)
    assert (found.basis.mT @ found.basis - eye).abs().max() < 1e-12
    assert found.error[0] == 1
    assert found.values[0].tolist() == [0, 0, 0]


@pytest.mark.parametrize("method", METHODS)
def test_zero_columns_and_rows_stay_zero(method):
    A = with_values(generator(10), 12, 16, spectrum(3, 12))
    A[:, [2, 5]] = 0
    A[3] = 0
    basis = principal(A, 3, method=method).basis
    assert basis[[2, 5]].abs().max() < 1e-15
    assert distance(basis, principal_rows(A, 3, method="svd")) < 1e-12


def mp_space(A: np.ndarray, r: int) -> np.ndarray:
    """The principal row space by an SVD in forty digits."""
    with mpmath.workdps(40):
        _, S, V = mpmath.svd_r(mpmath.matrix(A.tolist()))
        order = sorted(range(len(S)), key=lambda i: -S[i])[:r]
        return np.array([[V[i, j] for i in order] for j in range(A.shape[1])], dtype=object)


def mp_sine(basis: torch.Tensor, exact: np.ndarray) -> float:
    with mpmath.workdps(40):
        V = np.array([[mpmath.mpf(x) for x in row] for row in basis.tolist()], dtype=object)
        off = V - exact @ (exact.T @ V)
        return float(mpmath.sqrt(sum(x * x for x in off.flat)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", [(5, 7), (7, 5)])
def test_the_error_bounds_the_distance_to_the_exact_space(shape, method):
    for seed, (condition, ratio) in enumerate([(1.5, 0.3), (3, 0.99), (25, 0.6), (1e4, 0.9)]):
        A = with_values(generator(seed), *shape, spectrum(2, 5, condition=condition, ratio=ratio))
        found = principal(A, 2, method=method)
        true = mp_sine(found.basis, mp_space(A, 2))
        assert true <= found.error.item(), f"true error {true}"
        assert found.error.item() <= 1e4 * max(true, 1e-16) * condition


def long_space(A: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Forty power steps in extended precision from a basis that is already right to ten digits."""
    A, V = A.astype(np.longdouble), V.astype(np.longdouble)
    for _ in range(40):
        V = A.T @ (A @ V)
        for _ in range(2):
            for j in range(V.shape[1]):
                V[:, j] -= V[:, :j] @ (V[:, :j].T @ V[:, j])
                V[:, j] /= np.sqrt(V[:, j] @ V[:, j])
    return V


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="no extended precision here")
@pytest.mark.parametrize("shape", [(60, 90), (90, 60), (150, 40), (1, 30)])
def test_the_error_bounds_the_true_one_on_larger_matrices(shape):
    for seed, (condition, ratio) in enumerate([(1.5, 0.3), (8, 0.9), (1e3, 0.5)]):
        rng = generator(seed)
        r = min(int(rng.integers(1, 6)), *shape)
        A = with_values(rng, *shape, spectrum(r, min(shape), condition=condition, ratio=ratio))
        for method in METHODS:
            found = principal(A, r, method=method)
            V = found.basis.numpy().astype(np.longdouble)
            exact = long_space(A, found.basis.numpy())
            true = float(np.sqrt(((V - exact @ (exact.T @ V)) ** 2).sum()))
            assert true <= found.error.item(), f"{method}: {true} above {found.error.item()}"
            assert found.error.item() < 1e-9


def test_the_iteration_certifies_what_it_returns():
    A = with_values(generator(11), 150, 200, spectrum(8, 150, condition=3, ratio=0.6))
    found = principal(A, 8, method="iterate")
    assert found.error < 1e-11
    assert distance(found.basis, principal_rows(A, 8, method="svd")) < 1e-11
    # a start that misses the leading direction altogether must not be taken for the answer
    far = tensor(np.linalg.svd(A)[2][8:16].T)
    warm = principal(A, 8, method="iterate", start=far)
    assert distance(warm.basis, found.basis) < 1e-11


def test_the_iteration_converges_to_its_tolerance_by_itself():
    A = tensor(with_values(generator(33), 150, 200, spectrum(8, 150, condition=3, ratio=0.6)))[None]
    for tolerance in (1e-7, 1e-11):
        block, values, error = _krylov.certified_block(A, 8, None, tolerance=tolerance)
        assert error.item() <= tolerance
        exact = np.linalg.svd(A[0].numpy(), compute_uv=False)[:8]
        np.testing.assert_allclose(values[0, :8].sqrt().numpy(), exact, rtol=1e-9)
        assert distance(block[0, :, :8], principal_rows(A[0], 8, method="svd")) < 2 * tolerance


def test_exact_vectors_that_are_not_the_leading_ones_get_no_certificate():
    # eigenvectors 2 to 4 have no residual at all; only the Cholesky factorization sees the first
    G = torch.diag(torch.tensor([9.0, 8.0, 7.0, 6.0, 1.0, 0.5], dtype=torch.float64))[None]
    slack = torch.full((1,), 1e-14, dtype=torch.float64)
    for chosen, certified in (([0, 1, 2, 3], True), ([0, 1, 3, 4], False), ([1, 2, 3, 4], False)):
        V = torch.eye(6, dtype=torch.float64)[None][..., chosen[:3]]
        values = G.diagonal(dim1=1, dim2=2)[:, chosen]
        tau = values[:, 2:].mean(1)
        errors = (
            _krylov._certify(G, V, G @ V, values[:, :3], tau, slack).item(),
            _krylov.certified_error(G, V, values, 6).item(),
        )
        assert all(error < 1e-12 if certified else error == 1 for error in errors)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    m=st.integers(8, 40),
    n=st.integers(8, 40),
    tail=st.sampled_from([0.0, 1e-14, 1e-9, 1e-7, 1e-4]),
)
def test_a_matrix_of_low_rank_gets_the_space_that_the_svd_gives_it(seed, m, n, tail):
    # the shortcut for exact rank r must neither cost digits nor be taken where there is a tail
    rng = generator(seed)
    r = int(rng.integers(1, min(m, n) // 4 + 1))
    values = spectrum(r, min(m, n), condition=10)
    values[r:] *= tail
    A = np.stack([with_values(rng, m, n, values), rng.standard_normal((m, n))])
    found, exact = (principal(A, r, method=method) for method in ("gram", "svd"))
    gap = distance(found.basis, exact.basis, norm="spectral")
    assert gap[0] < 1e-11
    assert gap[1] <= found.error[1] + exact.error[1]
    np.testing.assert_allclose(found.values.numpy(), exact.values.numpy(), rtol=1e-11)


@pytest.mark.parametrize("rank", [1, 3, 8, 12])
def test_a_rank_below_r_is_no_reason_to_fail(rank):
    # what Cholesky's method leaves is then rounding of either sign, which must not be divided by
    rng = np.random.default_rng(rank)
    shape = (40, 100, rank), (40, rank, 120)
    A = torch.from_numpy(rng.standard_normal(shape[0]) @ rng.standard_normal(shape[1]))
    V = subspaces.principal_rows(A, 16)
    assert torch.allclose(V.mT @ V, torch.eye(16, dtype=V.dtype).expand(40, -1, -1), atol=1e-8)
    assert torch.allclose(A @ V @ V.mT, A, atol=1e-8)  # and it holds the row space


def test_a_matrix_of_rank_below_r_is_left_to_the_svd():
    A = with_values(generator(41), 20, 24, [3.0, 2.0])
    found = principal(np.stack([A, np.zeros_like(A)]), 4, method="gram")
    assert found.error.tolist() == [1, 1]
    eye = torch.eye(4, dtype=torch.float64)
    assert torch.allclose(found.basis.mT @ found.basis, eye.expand(2, 4, 4), atol=1e-12)
    assert distance(found.basis[0, :, :2], principal_rows(A, 2, method="svd")) < 1e-12


def test_squaring_is_owned_up_to():
    A = with_values(generator(34), 30, 40, spectrum(4, 30, condition=25))
    direct, squared = (principal(A, 4, method=method).error.item() for method in ("svd", "gram"))
    assert squared > 5 * direct


def test_single_precision_stays_single_and_knows_its_error():
    A = with_values(generator(12), 30, 40, spectrum(3, 30))
    for method in (*METHODS, "auto"):
        found = principal(tensor(A).float(), 3, method=method)
        assert found.basis.dtype == found.values.dtype == found.error.dtype == torch.float32
        true = distance(found.basis.double(), principal_rows(A, 3)).item()
        assert true < 2 * found.error.item() < 1e-2


# --- batches and threads --------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_batch_is_its_instances(method):
    rng = generator(13)
    conditions = (1.5, 5, 200, 25)  # one of them is for the SVD only
    A = np.stack([with_values(rng, 18, 26, spectrum(4, 18, condition=c)) for c in conditions])
    whole = principal(A.reshape(2, 2, 18, 26), 4, method=method)
    assert whole.basis.shape == (2, 2, 26, 4)
    assert (whole.values.shape, whole.error.shape) == ((2, 2, 4), (2, 2))
    for i in range(4):
        alone = principal(A[i], 4, method=method)
        assert distance(whole.basis.reshape(4, 26, 4)[i], alone.basis) < 1e-12
        np.testing.assert_allclose(whole.values.reshape(4, 4)[i], alone.values, rtol=1e-12)


def test_distances_broadcast_over_leading_axes():
    U, V = bases(14, 12, 3, (5, 1)), bases(15, 12, 3, (4,))
    for norm in ("fro", "spectral", "max"):
        whole = distance(U, V, norm=norm)
        assert whole.shape == (5, 4)
        for i in range(5):
            for j in range(4):
                one = distance(U[i, 0], V[j], norm=norm).item()
                assert whole[i, j].item() == pytest.approx(one, abs=1e-14)


@pytest.mark.parametrize("method", METHODS)
def test_one_thread_and_two_give_the_same(method):
    rng = generator(16)
    A = tensor(np.stack([with_values(rng, 40, 60, spectrum(5, 40)) for _ in range(9)]))
    other = bases(17, 60, 5)
    before = torch.get_num_threads()
    try:
        results = []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found = principal(A, 5, method=method)
            results.append((found, subspaces.singular_values(A), sines(found.basis, other)))
    finally:
        torch.set_num_threads(before)
    (one, values_one, sines_one), (two, values_two, sines_two) = results
    assert distance(one.basis, two.basis).max() < 1e-13
    np.testing.assert_allclose(values_one.numpy(), values_two.numpy(), rtol=1e-13)
    np.testing.assert_allclose(sines_one.numpy(), sines_two.numpy(), rtol=1e-9)


def test_pieces_of_a_large_stack_are_put_together_in_order(monkeypatch):
    rng = generator(30)
    A = tensor(rng.standard_normal((17, 12, 16)))
    U, V = bases(31, 16, 3, (17,)), bases(32, 16, 3, (17,))
    start = principal_rows(A + 1e-3, 4)

    def everything() -> list[torch.Tensor]:
        found = [principal(A, 4, method=method) for method in METHODS]
        found.append(principal(A, 4, method="iterate", start=start))
        spaces = [f.basis @ f.basis.mT for f in found]
        values = [f.values for f in found]
        norms = [distance(U, V, norm=norm) for norm in ("fro", "spectral", "max")]
        return [*spaces, *values, *norms, subspaces.spectral_norm(A)]

    whole = everything()
    before = torch.get_num_threads()
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            monkeypatch.setattr(parallel, "PIECE", 3 * 12 * 16)
            for one, other in zip(whole, everything(), strict=True):
                torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-11)
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


def test_a_failure_in_a_piece_is_raised_and_leaves_the_threads_as_they_were():
    def fail(piece):
        if (piece == 3).any():
            raise ArithmeticError("no")
        return (piece,)

    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        stack = torch.arange(4.0)[:, None, None].expand(4, 800, 900)
        with pytest.raises(ArithmeticError, match="no"):
            parallel.in_pieces(fail, stack, entries=800 * 900)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


# --- along a run ----------------------------------------------------------------------------------


def test_a_tracker_follows_a_drift_within_its_tolerance():
    rng = generator(17)
    start = np.stack([with_values(rng, 260, 280, spectrum(5, 260, ratio=0.6)) for _ in range(2)])
    drift = 1e-3 * rng.standard_normal(start.shape)
    track = subspaces.Tracker(5, tolerance=1e-10)
    for step in range(4):
        A = start + step * drift
        found = track(A)
        assert found.error.max() <= 1e-10
        assert distance(found.basis, principal_rows(A, 5, method="svd")).max() < 2e-10
        values = np.linalg.svd(A, compute_uv=False)[:, :5]
        np.testing.assert_allclose(found.values.numpy(), values, rtol=1e-9)


def test_a_jump_costs_a_tracker_no_accuracy():
    rng = generator(18)
    track = subspaces.Tracker(4)
    one, other = (with_values(rng, 300, 270, spectrum(4, 270)) for _ in range(2))
    for A in (one, other, one, np.zeros_like(one), other, one[:260], other[:30], one.T):
        found = track(A)
        if A.any():
            assert found.error <= 1e-10
            assert distance(found.basis, principal_rows(A, 4, method="svd")) < 1e-9
        else:
            assert found.error == 1


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="no extended precision here")
@pytest.mark.parametrize("shape", [(60, 90), (90, 60), (40, 40)])
def test_a_tracker_bounds_its_error_where_it_factors_directly(shape):
    for seed, (condition, ratio) in enumerate([(1.5, 0.3), (8, 0.9), (25, 0.99), (1e3, 0.5)]):
        values = spectrum(4, min(shape), condition=condition, ratio=ratio)
        A = with_values(generator(seed), *shape, values)
        found = subspaces.Tracker(4)(A)
        V = found.basis.numpy().astype(np.longdouble)
        exact = long_space(A, found.basis.numpy())
        true = float(np.sqrt(((V - exact @ (exact.T @ V)) ** 2).sum()))
        assert true <= found.error.item() < 1e-8, f"{true} above {found.error.item()}"


def test_the_certificate_does_not_trust_the_basis_it_is_given():
    # a basis turned by a known angle: the bound must be above its sine, and not far above
    A = tensor(with_values(generator(40), 30, 50, spectrum(4, 30, ratio=0.5)))[None]
    G = A @ A.mT
    squares, vectors = torch.linalg.eigh(G)
    top, away = vectors[..., -4:].flip(-1), vectors[..., :4]
    for angle in (1e-9, 1e-6, 1e-3):
        turned_basis = np.cos(angle) * top + np.sin(angle) * away
        error = _krylov.certified_error(G, turned_basis, squares[:, -5:].flip(-1), 50).item()
        assert np.sin(angle) <= error < 50 * angle


def test_a_tracker_says_when_the_space_becomes_ambiguous():
    rng = generator(19)
    left, right = orthonormal(rng, 260, 40), orthonormal(rng, 270, 40)
    track = subspaces.Tracker(3)
    errors = []
    for gap in (0.5, 1e-3, 1e-9, 0.0, 0.5):
        values = [4.0, 3.0, 2.0, 2.0 - gap, *np.linspace(1, 0.1, 36)]
        errors.append(track((left * values) @ right.T).error.item())
    assert errors[0] < 1e-10
    assert errors[2] > 1e-7
    assert errors[3] > 0.1
    assert errors[4] < 1e-10


# --- gradients ------------------------------------------------------------------------------------


def test_gradients_flow_through_the_svd():
    A = with_values(generator(20), 6, 8, [5.0, 3.0, 1.0, 0.5, 0.2, 0.1])
    other = bases(21, 8, 2)

    def spread(X: torch.Tensor) -> torch.Tensor:
        return distance(other, principal(X, 2, method="svd").basis)

    for method in ("svd", "auto"):
        X = tensor(A).requires_grad_(True)
        distance(other, principal(X, 2, method=method).basis).backward()
        direction = tensor(generator(22).standard_normal(A.shape))
        h = 1e-6
        slope = (spread(tensor(A) + h * direction) - spread(tensor(A) - h * direction)) / (2 * h)
        assert (X.grad * direction).sum().item() == pytest.approx(slope.item(), rel=1e-6)
    for norm in ("spectral", "max"):
        X = tensor(A).requires_grad_(True)
        distance(other, principal(X, 2, method="svd").basis, norm=norm).backward()
        assert X.grad.abs().max() > 0
    X = tensor(A).requires_grad_(True)
    subspaces.spectral_norm(X).backward()
    assert torch.linalg.matrix_norm(X.grad, "nuc").item() == pytest.approx(1)


# --- refusals -------------------------------------------------------------------------------------

GOOD = torch.eye(4, 6, dtype=torch.float64)
NAN = torch.full((4, 6), torch.nan)
INF = torch.tensor([[1.0, torch.inf]])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: principal(NAN, 2), ["finite", "24 of its 24"]),
        (lambda: principal(INF, 1), ["finite", "1 of its 2"]),
        (lambda: principal(torch.ones(3), 1), ["two axes", "(3,)"]),
        (lambda: principal(torch.ones(0, 3), 1), ["empty", "(0, 3)"]),
        (lambda: principal(GOOD, 0), ["r = 0", "min(m, n) = 4", "n = 6"]),
        (lambda: principal(GOOD, 5), ["r = 5", "min(m, n) = 4"]),
        (lambda: principal(GOOD, -1), ["r = -1"]),
        (lambda: principal(GOOD, 1.5), ["r = 1.5"]),
        (lambda: principal(GOOD, float("nan")), ["r = nan"]),
        (lambda: principal(GOOD, None), ["r = None"]),
        (lambda: principal(GOOD, True), ["r = True"]),
        (lambda: principal(GOOD, 2, method="qr"), ["'svd', 'gram', 'iterate'", "'qr'"]),
        (
            lambda: principal(GOOD, 2, method="iterate", start=torch.ones(5, 2)),
            ["start", "(5, 2)", "(4, 6)"],
        ),
        (
            lambda: principal(GOOD[None], 2, method="iterate", start=torch.ones(2, 6, 2)),
            ["start", "(2, 6, 2)", "(1, 4, 6)"],
        ),
        (lambda: subspaces.row_space(torch.ones(2, 3, 4)), ["one matrix", "(2, 3, 4)"]),
        (lambda: subspaces.gap(GOOD, GOOD, 7), ["r = 7"]),
        (
            lambda: subspaces.gap(torch.ones(2, 3, 3), torch.ones(5, 3, 3), 1),
            ["leading axes", "(2, 3, 3)", "(5, 3, 3)"],
        ),
        (lambda: subspaces.gap(GOOD, NAN, 1), ["B must be finite"]),
        (lambda: distance(GOOD.mT, GOOD.mT, norm="nuclear"), ["'fro'", "'max'", "'nuclear'"]),
        (lambda: distance(GOOD.mT, GOOD.mT[:, :2]), ["(6, 4)", "(6, 2)"]),
        (lambda: sines(torch.ones(2, 6, 1), torch.ones(3, 6, 1)), ["(2, 6, 1)", "(3, 6, 1)"]),
        (lambda: subspaces.Tracker(0), ["r must be", "0"]),
        (lambda: subspaces.Tracker(2, tolerance=0.0), ["tolerance", "0.0"]),
        (lambda: subspaces.Tracker(5)(GOOD), ["r = 5"]),
        (lambda: subspaces.projector(NAN), ["finite"]),
    ],
)
def test_refusals_name_the_values(call, said):
    with pytest.raises(ValueError) as refusal:
        call()
    message = str(refusal.value)
    assert "\n" not in message
    for part in said:
        assert part in message


@pytest.mark.parametrize(("n", "r"), [(2, 1), (5, 2), (7, 6), (40, 9)])
def test_chance_is_what_uniform_subspaces_show(n: int, r: int) -> None:
    draws = 4000
    U = torch.linalg.qr(tensor(generator(5).standard_normal((draws, n, r)))).Q
    fixed = tensor(orthonormal(generator(6), n, r)).expand(draws, -1, -1)
    S = distance(U, fixed).square() / (2 * r)
    mean, variance = subspaces.chance(n, r)
    assert abs(S.mean() - mean) < 5 * (variance / draws) ** 0.5
    assert abs(S.var() / variance - 1) < 0.15


@given(st.integers(2, 500), st.data())
def test_chance_knows_complements_and_lines(n: int, data) -> None:
    r = data.draw(st.integers(1, n - 1))
    mean, variance = subspaces.chance(n, r)
    other_mean, other = subspaces.chance(n, n - r)
    # ‖P - Q‖ is the same for the complements, whose normalization differs
    assert np.isclose(r * mean, (n - r) * other_mean)
    assert np.isclose(r**2 * variance, (n - r) ** 2 * other)
    beta = scipy.stats.beta(0.5, (n - 1) / 2)  # a line: the squared cosine
    assert np.allclose(subspaces.chance(n, 1), (1 - beta.mean(), beta.var()))


def test_chance_refuses_what_is_no_dimension() -> None:
    assert subspaces.chance(3, 3) == (0.0, 0.0)
    for n, r in ((0, 1), (3, 4), (3, 0)):
        with pytest.raises(ValueError, match="must be"):
            subspaces.chance(n, r)
