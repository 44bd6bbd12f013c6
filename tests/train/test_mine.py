"""What is mined from a package, and what never is."""

from __future__ import annotations

import io
import tarfile
import zipfile

import pytest
from train.fetch import HERE, barred, read_words
from train.licences import judge, name_licences
from train.mine import Pair, mine_all, mine_package, read_pairs
from train.vocabulary import choose_words

PYTHON = '''"""Keeps sessions of visitors between requests."""

class SessionStore:
    """Sessions on disk, one file for each visitor."""

    def load_session(self, key):
        """Read back what was kept for a visitor."""
        if key not in self.files:
            raise KeyError("no session was kept for this visitor")
        return self.decode(self.files[key].read_bytes())

    def drop_old_sessions(self, now):
        for key, file in list(self.files.items()):
            if file.age(now) > self.limit:
                del self.files[key]

    def count_sessions_by_country(self, countries): ...
'''
TEST = (
    "def test_drop_old_sessions_after_limit():\n    store = SessionStore()\n    store.drop_old_sessions(9)\n"
    * 3
)
README = (
    "# Sessions\n\n## Open a session store\n\n```python\n" + "store = SessionStore('folder')\n" * 5 + "```\n"
)


def pack(path, files):
    with zipfile.ZipFile(path, "w") as file:
        for name, text in files.items():
            file.writestr(name, text)
    return path


@pytest.fixture
def wheel(tmp_path):
    files = {
        "kept/sessions.py": PYTHON,
        "kept/tests/test_sessions.py": TEST,
        "kept/README.md": README,
        "kept/vendor/other.py": PYTHON.replace("session", "vendored"),
        "kept/flask/app.py": PYTHON.replace("session", "barred"),
        "kept-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: kept\nLicense: MIT\n\nabout",
    }
    return pack(tmp_path / "kept-1.0-py3-none-any.whl", files)


def test_every_kind_of_pair_is_mined(wheel):
    pairs = {pair.kind: pair for pair in mine_package(wheel, "pypi:kept")}
    assert pairs["doc"].query == "Read back what was kept for a visitor."
    assert pairs["doc"].name == "load_session" and "read_bytes" in pairs["doc"].code
    assert pairs["type"].query.startswith("Sessions on disk")
    assert pairs["file"].query.startswith("Keeps sessions")
    assert pairs["error"].query == "no session was kept for this visitor"
    assert pairs["test"].query == "drop old sessions after limit"
    assert pairs["readme"].query == "Open a session store"
    assert pairs["name"].query in ("load session", "drop old sessions")


def test_what_a_question_says_is_not_in_the_code_it_is_asked_of(wheel):
    for pair in mine_package(wheel, "pypi:kept"):
        if pair.kind in ("doc", "error", "name"):
            assert pair.query not in pair.code


def test_vendored_and_benchmark_code_is_passed_by(wheel):
    assert not [p for p in mine_package(wheel, "x") if "vendored" in p.code or "barred" in p.code]


def test_no_package_of_a_benchmark_is_asked_for():
    wanted = {
        name.rsplit(":")[-1].rsplit("/")[-1].lower()
        for names in read_words(HERE / "packages.toml").values()
        for name in names
    }
    development = set(read_words(HERE / "exclusions.toml")["development"])
    assert development <= barred()
    assert not wanted & barred()


def test_the_same_said_twice_is_kept_once(wheel, tmp_path):
    rows = [
        {"registry": "pypi", "name": name, "version": "1", "used": "yes", "archive": wheel.name}
        for name in ("kept", "copy")
    ]
    mine_all(rows, tmp_path)
    one, both = read_pairs(rows[:1], tmp_path), read_pairs(rows, tmp_path)
    assert one and len(both) == len(one)


def test_a_package_that_may_not_be_used_is_not_mined(wheel, tmp_path):
    row = {"registry": "pypi", "name": "kept", "version": "1", "used": "no", "archive": wheel.name}
    mine_all([row], tmp_path)
    assert read_pairs([row], tmp_path) == []


@pytest.mark.parametrize(
    ("declared", "permissive"),
    [
        ("License: MIT", True),
        ("License-Expression: Apache-2.0 OR GPL-3.0", True),
        ("License: GPL-3.0", False),
        ("License: LGPLv3", False),
        ("License: MPL 2.0", False),
        ("License: our own terms", False),
        ("Keywords: none", False),
    ],
)
def test_only_permissive_licences_are_learned_from(tmp_path, declared, permissive):
    path = pack(tmp_path / "x.whl", {"x-1.dist-info/METADATA": f"Name: x\n{declared}\n\n", "x.py": "pass"})
    assert judge(path, "pypi", "x")[1] is permissive


def test_a_licence_file_speaks_where_nothing_is_declared(tmp_path):
    path = tmp_path / "x.tgz"
    with tarfile.open(path, "w:gz") as file:
        for name, text in {
            "x/LICENSE": b"Permission is hereby granted, free of charge, to any person",
            "x/deep/er/LICENSE": b"GNU General Public License",
        }.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            file.addfile(member, io.BytesIO(text))
    assert judge(path, "go", "x") == ("MIT", True)


def test_reciprocal_names_come_first():
    assert name_licences("MIT or GPL") == ["GPL", "MIT"]


def test_words_that_many_packages_use_come_first():
    pairs = [
        Pair(
            "doc",
            "python",
            f"p{n}",
            "a/b.py",
            "",
            "readFile",
            "reads the file",
            "file " * n + "rare" * (n == 1),
        )
        for n in range(5)
    ]
    words, totals = choose_words(pairs)
    assert words.index("file") > 35 and "rare" not in words and "read" in words
    assert totals["file"] == 5 + 5 + 10
