"""Runs texts that `run` refuses: an engine must know what only an object may hold."""

from __future__ import annotations

from visa_lsp.app.launch.program import module_of_text, sources_of
from visa_lsp.app.launch.ready_run import run_ready
from visa_lsp.app.launch.runner import RunOptions, RunReport, ready
from visa_lsp.isa.platforms import platform_named


def run_unjudged(text: str, launch: object, options: RunOptions) -> RunReport:
    """Run a text without the findings of `check`, on the platform that the options name."""
    module = module_of_text(text, None, platform_named(options.platform), [], judged=False)
    return run_ready(ready(module, launch, options, (), sources_of(module, text, None, judged=False)))
