"""ReLU networks against noise and data: ways that must agree, exponents of known laws, lines."""

from __future__ import annotations

import numpy as np
import pytest
from lowdim.embedded import noise_lines, noise_pictures, noisy_relu
from lowdim.evidence import Estimate

HOW = noisy_relu.Protocol(2, 6, epochs=4, batch=10, rate=0.03, samples=60, seed=0)


@pytest.fixture(scope="module")
def tiny():
    return noisy_relu.study(HOW, [2, 4], [20, 40], [1, 3], sigma=0.25, points=30)


def test_one_codimension_alone_and_among_others(tiny):
    alone = noisy_relu.by_size(HOW, 2, [20], [1], sigma=0.25).metric
    assert np.allclose(alone[0, 0], tiny.tables[2].metric[0, 0], rtol=1e-4)


def test_ways_agree_at_the_largest_size(tiny):
    for each in tiny.series.values():
        assert all(np.array_equal(S[-1], each["epochs"][-1]) for S in each.values())
        assert not np.allclose(each["steps"][0], each["epochs"][0])


def test_fixed_steps_are_longer_training(tiny):
    longer = noisy_relu.Protocol(2, 6, epochs=8, batch=10, rate=0.03, samples=60, seed=0)
    wanted = noisy_relu.by_size(longer, 2, [20], [3], sigma=0.25).metric[0, 0]
    assert np.allclose(tiny.series[2]["steps"][0], wanted, rtol=1e-5)


def test_a_way_that_is_none_is_refused():
    with pytest.raises(ValueError, match="way must be one of 'steps', 'length only'"):
        noisy_relu.by_way(HOW, 2, [20, 40], 1, "time", sigma=0.25, largest=np.ones(2))


def test_without_noise_both_kinds_are_the_same(tiny):
    same = zip(tiny.normal[2], tiny.everywhere[2], strict=True)
    assert all(np.array_equal(a[-1], b[-1]) for a, b in same)
    assert not np.allclose(tiny.normal[2].clean[0], tiny.everywhere[2].clean[0])


def law(beta, tilt=0.0, sigma=-2.0, seed=0):
    """A study of metrics that obey a power law, up to a factor for each network."""
    sizes, codims = (10, 20, 40), (1, 2, 4)
    N, dy = np.array(sizes)[:, None, None], np.array(codims)[:, None]
    own = np.exp(np.random.default_rng(seed).standard_normal(3))
    S = own * N ** -(beta + tilt * np.log(dy)) * dy**0.5
    levels = np.array(noisy_relu.LEVELS)[:, None]
    with np.errstate(divide="ignore"):
        by_noise = own * np.where(levels > 0, levels**sigma, 1e9)
    runs = {2: noisy_relu.ByNoise(by_noise, 1 / by_noise, 0 * by_noise)}
    table, ways = noisy_relu.BySize(S, S), ("epochs", "steps", "length only")
    return noisy_relu.Study(
        sizes, codims, {2: table}, {2: dict.fromkeys(ways, S[:, 1])}, runs, runs
    )


def test_exponents_of_a_law():
    seen = law(0.4, tilt=0.1)
    assert seen.middle == 2
    assert seen.cells[2, 1].value == pytest.approx(0.4)
    assert seen.means[0].value == pytest.approx(0.4 + 0.1 * np.log(2))
    assert seen.trends[0].value == pytest.approx(0.1)
    assert seen.by_sigma()[0].value == pytest.approx(-2) == seen.by_sigma(3)[0].value
    assert law(0.4).by_codim[0].value == pytest.approx(0.5)


def test_order_is_judged_by_sign():
    assert law(0.4).misordered == 0  # more noise: a smaller metric, a larger loss
    assert law(0.4, sigma=2.0).misordered == 10


def test_one_codimension_has_no_exponent():
    seen = noisy_relu.study(HOW, [2], [20, 40], [2], sigma=0.25, points=30)
    assert np.isinf(seen.by_codim[0].error)  # it decides nothing


def test_lines_of_a_law_agree_with_the_paper():
    lines = noise_lines.figure_3_3(law(0.4))
    assert all(line["agrees"] for line in lines) and len(lines) == 4
    assert [line["agrees"] for line in noise_lines.figure_3_3(law(1.2, sigma=-0.5))] == [
        False, True, True, False,
    ]  # fmt: skip
    cells = noise_lines.table_1(law(0.38), "a law")
    undecided = [line["quantity"] for line in cells if line["agrees"] is None]
    assert undecided == ["β rises with depth"]  # of one depth nothing can be said
    assert all(line["agrees"] for line in cells if line["quantity"] not in undecided)
    assert not noise_lines.table_1(law(0.38, tilt=0.3), "a law")[-1]["agrees"]


def test_a_law_in_the_data_is_none_in_the_length():
    epsilon, length, steps = noise_lines.equation_4_3(law(0.4))
    assert (epsilon["agrees"], length["agrees"], steps["agrees"]) == (True, False, True)
    assert length["reported"] == 0 and "0.40" in steps["reading"]


def test_tables_show_estimates(tiny):
    table = noise_lines.exponents(tiny)
    assert [row[0] for row in table.rows] == ["1", "3", "3, steps", "3, length only"]
    assert [row[1] for row in table.rows] == ["0.40", "0.35", "–", "–"]
    assert [row[3] for row in table.rows] == ["0.42", "0.40", "–", "–"]
    assert table.rows[1][4] == f"{tiny.cells[4, 3]:.2f}"
    shown = noise_lines.as_table(noise_lines.table_1(tiny, "tiny")[:1])
    assert shown.rows[0][2] == f"{Estimate(*tiny.cells[2, 1]):.2f}"


def lose(seen, nets=slice(None, 1)):
    """The same study, some of its networks having diverged wherever they were trained."""

    def gone(S):
        S = S.copy()
        S[..., nets] = np.nan
        return S

    return noisy_relu.Study(
        seen.sizes,
        seen.codims,
        {L: noisy_relu.BySize(*map(gone, table)) for L, table in seen.tables.items()},
        {L: {way: gone(S) for way, S in each.items()} for L, each in seen.series.items()},
        *(
            {L: noisy_relu.ByNoise(*map(gone, run)) for L, run in runs.items()}
            for runs in (seen.normal, seen.everywhere)
        ),
    )


def test_a_network_that_diverged_counts_nowhere_but_is_told():
    whole, some = law(0.4), lose(law(0.4))
    assert whole.diverged.count == 0 and some.diverged.count * 3 == some.diverged.of
    assert some.cells[2, 1].value == pytest.approx(0.4) == whole.cells[2, 1].value
    assert some.by_sigma()[0].value == pytest.approx(-2)
    assert some.cross.size * 3 == whole.cross.size * 2 and some.misordered == 0
    assert np.allclose(some.plateau, whole.plateau)
    agree = [line["agrees"] for line in noise_lines.figure_3_3(some)]
    assert agree == [True] * 4
    table = noise_lines.exponents(some)
    assert all(row[2].endswith(", 1 of 3 diverged") for row in table.rows)


def test_where_all_networks_diverged_nothing_is_decided():
    none = lose(law(0.4), slice(None))
    lines = [
        *noise_lines.figure_3_3(none),
        *noise_lines.equation_4_3(none),
        *noise_lines.table_1(none, "nothing"),
    ]
    assert all(line["agrees"] is None for line in lines)
    assert np.isnan(none.plateau).all() and none.cross.size == 0
    assert noise_lines.exponents(none).rows[0][2] == "–, 3 of 3 diverged"
    assert noise_lines.known(none.means) == [None]
    fig = noise_pictures.noise_and_size(
        noisy_relu.LEVELS, {2: none.normal[2].metric}, none.sizes, none.series
    )
    assert np.ma.getmaskarray(fig.axes[0].lines[0].get_ydata()).all()


def test_a_rate_that_is_too_large_loses_networks_and_not_the_run():
    wild = noisy_relu.Protocol(2, 6, epochs=2, batch=10, rate=0.9, samples=60, seed=0)
    run = wild.train(4, [(0.0, 1), (30.0, 1)], 40)
    assert not run.loss[0].isnan().any() and run.loss[1].isnan().all()
    alone = wild.train(4, [(0.0, 1)], 40)
    assert np.allclose(wild.metric(run)[0], wild.metric(alone)[0], rtol=1e-4)
    assert np.isnan(wild.metric(run)[1]).all()
