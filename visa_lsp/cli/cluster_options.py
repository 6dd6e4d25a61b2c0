"""The options ``--cluster``, ``--send`` and ``--cluster-limit`` of the commands that can work on a Dask cluster.

Loads Dask and ``visa_lsp.cluster`` only with ``--cluster``.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.clusters import Cluster, cluster_errors
from visa_lsp.app.errors import UserError
from visa_lsp.cli.common import whole_number
from visa_lsp.cli.exits import complain

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

_LIMIT: Final = 300


def add_cluster(parser: argparse.ArgumentParser, *, send: str = "") -> None:
    """Declare the options; ``send`` is the help of ``--send``, for commands that have it."""
    add: Callable[..., Any] = parser.add_argument
    add(
        "--cluster",
        metavar="ADDRESS|local[:N]",
        help="use the Dask cluster of this scheduler, or a local one of N processes",
    )
    if send:
        add("--send", action="store_true", help=f"with --cluster: {send}")
    add(
        "--cluster-limit", type=whole_number(1), default=_LIMIT, metavar="SECONDS",
        help=f"with --cluster: abandon an input that exceeds this limit on two workers; default: {_LIMIT}",
    )  # fmt: skip


@contextlib.contextmanager
def cluster_of(args: argparse.Namespace) -> Iterator[Cluster | None]:
    """Open the cluster that the command line names and close it afterwards; None without ``--cluster``.

    Raises UserError if Dask is not installed or the cluster cannot be reached.
    """
    sends = bool(getattr(args, "send", False))
    if args.cluster is None:
        if sends:
            raise UserError("--send needs --cluster")
        yield None
        return
    from importlib.util import find_spec

    if find_spec("distributed") is None:
        raise UserError("--cluster needs Dask: pip install 'visa-lsp[cluster]'")
    from visa_lsp.cluster.crew import crew_at

    with cluster_errors(), crew_at(args.cluster, complain) as crew:
        yield Cluster(crew, args.cluster_limit, sends=sends)
