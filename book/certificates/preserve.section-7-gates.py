"""Section 7: an LSTM unit that cuts nothing turns the row space, so it is no sigma(WX).

One step from a zero cell: h = sig(w_o x) relu(sig(w_i x) relu(w_g x)), with w_g = 1, w_i = -ln 2
and w_o = 0. Then sig(-x ln 2) = 1 / (1 + 2^x), and all numbers at x = 1, 2 are fractions.
"""

from fractions import Fraction


def unit(x):
    """The output, and what the two ReLUs are given."""
    candidate = Fraction(x)
    gate_in, gate_out = Fraction(1, 1 + 2**x), Fraction(1, 2)
    assert candidate > 0 and gate_in * candidate > 0, "nothing is cut"
    return gate_out * gate_in * candidate


clean = (1, 2)
handed_on = tuple(unit(x) for x in clean)
assert handed_on == (Fraction(1, 6), Fraction(1, 5))

# A ReLU layer that cuts nothing hands on multiples of the row (1, 2). This is none:
assert clean[0] * handed_on[1] != clean[1] * handed_on[0]
inner = sum(a * b for a, b in zip(clean, handed_on))
squares = sum(a * a for a in clean) * sum(b * b for b in handed_on)
cosine_squared = inner**2 / squares
assert cosine_squared < 1

print(f"(1, 2) becomes ({handed_on[0]}, {handed_on[1]}): cos^2 of the angle is {cosine_squared}.")
