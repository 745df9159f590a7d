"""Data: unions of subspaces, manifolds, and real images."""
