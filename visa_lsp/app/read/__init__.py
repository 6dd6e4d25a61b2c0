"""Pseudo-code: a kernel as structured, C-like statements, for readers; nothing here is written back.

``model`` has the statements, ``lower`` makes them of instructions, ``structure`` finds loops and conditions, ``fold`` shortens,
``expressions`` and ``lines`` print, ``evaluate`` runs the statements, so that tests prove them.
"""
