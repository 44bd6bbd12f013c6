"""Serve an agent over the Model Context Protocol.

Without options the server speaks over standard input and output, as clients start it; `tether install` writes
the entry. Every call is judged, recorded and settled as at any other door. `--http` serves the same tools on
one address, behind a bearer token: `TETHER_MCP_TOKEN`, or one made up and printed once to standard error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tether.edges.mcp.surface import DEFAULT, SURFACES

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
  tether mcp
  tether mcp --surface tools -C path/to/project
  tether mcp --http 127.0.0.1:8765
  tether mcp --http 0.0.0.0:8765 --allow-remote --allow-host build.example.com:8765"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The surface and the way it is served."""
    parser.add_argument(
        "--surface",
        choices=sorted(SURFACES),
        default=DEFAULT,
        help=f"what tools are shown (default: {DEFAULT})",
    )
    parser.add_argument(
        "--http", metavar="HOST:PORT", default="", help="serve streamable HTTP at /mcp instead"
    )
    parser.add_argument(
        "--allow-remote", action="store_true", help="let --http listen beyond this machine's own addresses"
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="HOST:PORT",
        help="one more name that requests may use for this server",
    )


def run(args: argparse.Namespace) -> int:
    """Serves until the client leaves."""
    if args.http:
        import asyncio

        from tether.edges.mcp.http import serve as serve_http

        return asyncio.run(
            serve_http(args.project, args.surface, args.http, remote=args.allow_remote, hosts=args.allow_host)
        )
    from tether.edges.mcp.stdio import serve

    return serve(args.project, args.surface)
