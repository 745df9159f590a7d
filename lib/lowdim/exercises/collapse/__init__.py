"""Checkers of Part II: gradients and weight decay, regression, what happens while one trains."""

from lowdim.exercises.collapse.gradients import (
    check_enough,
    check_failure,
    check_relative_tail,
    check_single_centroid_gap,
    check_steps_needed,
)
from lowdim.exercises.collapse.minima import check_minima, check_parts, check_settled
from lowdim.exercises.collapse.regression import (
    check_critical_points,
    check_floor,
    check_go_down,
    check_shrink,
    check_worst_inputs,
)
from lowdim.exercises.collapse.training import check_settle, check_share

__all__ = [
    "check_critical_points", "check_enough", "check_failure", "check_floor", "check_go_down",
    "check_minima", "check_parts", "check_relative_tail", "check_settle", "check_settled",
    "check_share", "check_shrink", "check_single_centroid_gap", "check_steps_needed",
    "check_worst_inputs",
]  # fmt: skip
