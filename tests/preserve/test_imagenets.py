"""Five layers on images: distances against projectors written out, draws alone, dealt weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from lowdim.nets import training
from lowdim.preserve import imagenets, imagesets


@pytest.fixture(scope="module")
def course() -> imagenets.Course:
    data = imagesets.draw(per_class=5, classes=3, draws=2)
    return imagenets.Course(data, hidden=12, ranks=(2, 4, 99), rank=4, epochs=3, batch=6)


def projector(Y: torch.Tensor, r: int) -> torch.Tensor:
    V = torch.linalg.svd(Y.double(), full_matrices=False).Vh[:r]
    return V.T @ V


def test_distances_at_the_end_are_those_of_projectors_written_out(course):
    fitted = course.fit(course.data.labels)
    assert fitted.distances.shape == (len(course.looks), 2, 2, 2, 5)
    for t in range(2):
        for i, r in enumerate(course.swept):
            first = projector(course.data.X[t], r)
            before = first
            for layer in range(5):
                P = projector(fitted.outputs[layer][t], r)
                steps = [float((P - Q).norm()) / (2 * r) ** 0.5 for Q in (before, first)]
                found = fitted.distances[-1, t, i, :, layer]
                np.testing.assert_allclose(found, steps, atol=1e-5)
                before = P


def test_a_draw_of_many_is_that_draw_alone(course):
    alone, both = course.fit(count=1), course.fit()
    np.testing.assert_allclose(alone.distances, both.distances[:, :1], atol=1e-4)
    assert not both.lost


def test_the_least_rank_is_seen_up_to_the_largest_r(course):
    assert 1 <= course.fit().least <= course.swept[-1] == 4


def test_looks_end_with_the_last_epoch_and_a_batch_may_be_too_large(course):
    assert replace(course, epochs=20).looks == [0, 1, 2, 5, 10, 20]
    whole, more = (replace(course, batch=b).fit().run.loss for b in (15, 1000))
    torch.testing.assert_close(whole, more)


def test_no_training_leaves_what_was_untrained(course):
    still = course.fit(count=2, optimizer=training.GD(1e-30))
    torch.testing.assert_close(still.last, course.untrained())


def test_dealing_weights_anew_changes_the_output_and_not_the_network(course):
    fitted = course.fit()
    before = [W.clone() for W, _ in fitted.run.weights]
    dealt = fitted.dealt(course.data.X, seed=3)
    assert dealt.shape == fitted.last.shape and not torch.allclose(dealt, fitted.last)
    assert all(torch.equal(W, V) for W, (V, _) in zip(before, fitted.run.weights, strict=True))
    torch.testing.assert_close(dealt, fitted.dealt(course.data.X, seed=3))


def test_a_matrix_that_is_the_labels_shows_them_whatever_their_names():
    labels = np.array([[2, 0, 0, 2, 1, 1], [0, 1, 2, 0, 1, 2]])
    Y = torch.nn.functional.one_hot(torch.from_numpy(labels)).mT.double()
    space = torch.linalg.qr(torch.randn(2, 6, 3, dtype=torch.float64)).Q
    found = imagenets.seen(Y, labels, space)
    assert found.price < 1e-6
    np.testing.assert_allclose([found.projector, found.kmeans], 1.0)
    assert 0 <= found.distance <= 1
