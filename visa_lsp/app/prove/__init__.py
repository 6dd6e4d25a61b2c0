"""Proof of kernels: no race, in bounds, for every launch, or a launch that shows otherwise."""
