"""``python -m visa_lsp``, the console script of a Python whose scripts are not on ``PATH``."""

from visa_lsp.cli.entry import program

program()
