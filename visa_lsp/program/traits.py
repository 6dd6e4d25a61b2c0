"""Traits of an instruction's row, for rooms that know programs but not the table."""

from __future__ import annotations

from visa_lsp.isa.model import FlowClass, Mark, Trait

__all__ = ["FlowClass", "Mark", "Trait"]
