"""Analyses of a body before it runs: float modes, registers that lanes read before they write them, live registers."""
