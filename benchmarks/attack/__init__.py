"""Attacks on the product with input of generators of its own; ``python -m benchmarks.attack`` runs them."""
