"""The options ``--cluster``, ``--send`` and ``--cluster-limit`` of the commands that can work on a Dask cluster.

Loads Dask and ``visa_lsp.cluster`` only with ``--cluster``.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated, Any, Final

from visa_lsp.app.clusters import Cluster, cluster_errors
from visa_lsp.app.errors import UserError
from visa_lsp.cli.exits import complain
from visa_lsp.cli.options import Option, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator

CLUSTER_SECONDS: Final = 300
# fmt: off
ClusterAddress = Annotated[str | None, Option("ADDRESS|local[:N]", "use the Dask cluster of this scheduler, or a local one of N processes")]
ClusterLimit = Annotated[int, Option("SECONDS", f"with --cluster: abandon an input that exceeds this limit on two workers; default: {CLUSTER_SECONDS}", whole_number(1))]
# fmt: on


@contextlib.contextmanager
def cluster_of(args: Any) -> Iterator[Cluster | None]:
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
