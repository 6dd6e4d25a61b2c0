"""Every block of code in the documents is carried out or checked; the few that cannot be stand here, with the reason."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doc_blocks import Block, blocks_of

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.cli.main import COMMANDS, LOADERS, main
from visa_lsp.cli.parsing import parser_of
from visa_lsp.cli.settings import FILE_NAME, Finder
from visa_lsp.zeinfo.yaml_reader import read_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[1]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
