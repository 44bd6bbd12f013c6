"""What a file imports, as far as it is in the project."""

from __future__ import annotations

import pytest

from tether.pack.dependencies import find_dependencies
from tether.pack.document import make_file

TREE = (
    "pkg/__init__.py pkg/a.py pkg/b.py pkg/sub/__init__.py pkg/sub/c.py lib/util.py "
    "web/x.ts web/y.tsx web/z/index.ts web/w.js src/lib.rs src/one.rs src/two/mod.rs "
    "inc/a.h c/main.c java/org/x/Y.java java/org/x/Z.java sh/run.sh sh/env.sh rb/a.rb rb/b.rb"
).split()


@pytest.mark.parametrize(
    ("path", "text", "needed"),
    [
        (
            "pkg/a.py",
            "import pkg.b\nfrom pkg.sub import c\nimport os, sys\n",
            {"pkg/b.py", "pkg/sub/c.py", "pkg/sub/__init__.py"},
        ),
        (
            "pkg/a.py",
            "from . import b\nfrom .sub.c import x\n",
            {"pkg/b.py", "pkg/__init__.py", "pkg/sub/c.py"},
        ),
        (
            "pkg/sub/c.py",
            "from ..b import (\n    f,  # why\n    g,\n)\nfrom lib import util\n",
            {"pkg/b.py", "lib/util.py"},
        ),
        ("pkg/a.py", "from b import x; y = 1\n", {"pkg/b.py"}),
        ("pkg/a.py", "text = 'import pkg.b'\n", set()),
        (
            "web/x.ts",
            "import { a } from './y';\nexport * from \"./z\";\nconst w = require('./w.js')\n",
            {"web/y.tsx", "web/z/index.ts", "web/w.js"},
        ),
        ("web/x.ts", "import y from './y.js';\nimport 'react';\n", {"web/y.tsx"}),
        ("src/lib.rs", "mod one;\nuse crate::two::Thing;\n", {"src/one.rs", "src/two/mod.rs"}),
        ("c/main.c", '#include "../inc/a.h"\n#include <stdio.h>\n', {"inc/a.h"}),
        ("java/org/x/Y.java", "import org.x.Z;\n", {"java/org/x/Z.java"}),
        ("sh/run.sh", ". ./env.sh\nsource $HOME/x\n", {"sh/env.sh"}),
        ("rb/a.rb", "require_relative 'b'\n", {"rb/b.rb"}),
    ],
)
def test_imports_lead_to_files(path: str, text: str, needed: set[str]) -> None:
    files = {name: make_file(name, text if name == path else "") for name in TREE}
    assert find_dependencies({path}, files) == needed


def test_what_could_mean_several_files_means_none() -> None:
    files = {name: make_file(name, "import util\n") for name in ("a/util.py", "b/util.py", "c/main.py")}
    assert find_dependencies({"c/main.py"}, files) == set()
