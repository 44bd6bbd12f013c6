"""Where a project's index lives, and how it is set up."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tether.config import Config
from tether.errors import TetherError
from tether.index.code import FOLDER, CodeIndex
from tether.source.walk import DEFAULT_EXCLUDED

if TYPE_CHECKING:
    from tether.embed.chain import Chain


def find_home(start: str) -> str:
    """The directory whose code is indexed: the nearest with `.tether`, else with `.git`, else `start`."""
    start = os.path.realpath(start)
    for mark in (".tether", ".git"):
        folder = start
        while True:
            if os.path.exists(os.path.join(folder, mark)):
                return folder
            above = os.path.dirname(folder)
            if above == folder:
                break
            folder = above
    return start


def open_index(root: str, config: Config | None = None) -> CodeIndex:
    """The index of a directory, in a folder of its own that git does not see."""
    config = Config() if config is None else config
    index = CodeIndex(root, exclude=(*DEFAULT_EXCLUDED, *config.index.exclude))
    local = index.root.path
    for part in os.path.dirname(FOLDER).split(os.sep):
        local = os.path.join(local, part)
        # INVARIANT: a link that came with a clone does not choose where we write.
        if os.path.islink(local):
            index.close()
            raise TetherError("SECURITY_VIOLATION", f"`{local}` is a link", action="Remove it")
    os.makedirs(local, exist_ok=True)
    ignore = os.path.join(local, ".gitignore")
    if not os.path.lexists(ignore):
        with open(ignore, "w", encoding="utf-8") as file:
            file.write("*\n")
    index.ranking = config.retrieval.ranking
    if config.retrieval.semantic == "on":
        from tether.index.semantic import Semantic

        index.semantic = Semantic(index.folder, make_chain(config))
    return index


def open_home(start: str) -> CodeIndex:
    """The index of the project around a directory, set up as the project's configuration says."""
    root = find_home(start)
    config = None
    if os.path.exists(os.path.join(root, ".tether", "local", "journal.db")):
        from tether.project import open_project

        project = open_project(root)
        config = project.config
        project.close()
    return open_index(root, config)


def make_chain(config: Config, environment: dict[str, str] | None = None) -> Chain:
    """The models a configuration asks for. A cloud model is made only where one is allowed."""
    from tether.embed.chain import Chain
    from tether.embed.model import Embedder, has_numpy

    if not has_numpy():
        raise TetherError(
            "CONFIG_INVALID",
            "searching by meaning needs numpy",
            action="pip install 'tether[semantic]', or set retrieval.semantic to off",
        )
    wanted = config.embedding
    local: Embedder
    path = os.path.expanduser(wanted.model)
    if path and not path.endswith(".bin"):
        from tether.embed.onnx import OnnxModel

        local = OnnxModel(path)
    else:
        from tether.embed.static import StaticModel

        local = StaticModel.open(path) if path else StaticModel.open()
    cloud: Embedder | None = None
    if wanted.cloud_enabled:
        from tether.embed.cloud import CloudModel

        key = (os.environ if environment is None else environment).get(wanted.cloud_key, "")
        cloud = CloudModel(
            key, url=wanted.cloud_url, model=wanted.cloud_model, dimension=wanted.cloud_dimension
        )
    return Chain(local, cloud, cloud_enabled=wanted.cloud_enabled)
