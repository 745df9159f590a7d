"""Checkers of Part I: projectors and single layers, what training does, other architectures."""

from lowdim.exercises.preserve.architectures import (
    check_loses_rank,
    check_pool,
    check_prices,
    check_reference,
    check_remove_mean,
)
from lowdim.exercises.preserve.layers import check_centre, check_comparator, check_shorter
from lowdim.exercises.preserve.onesided import check_lift, check_one_sided
from lowdim.exercises.preserve.projectors import (
    check_bridges,
    check_mislead,
    check_pair,
    check_smallest_noise,
    check_tie,
)
from lowdim.exercises.preserve.training import check_any_space, check_balance, check_levels

__all__ = [
    "check_any_space", "check_balance", "check_bridges", "check_centre", "check_comparator",
    "check_levels", "check_lift", "check_loses_rank", "check_mislead", "check_one_sided",
    "check_pair", "check_pool", "check_prices", "check_reference", "check_remove_mean",
    "check_shorter", "check_smallest_noise", "check_tie",
]  # fmt: skip
