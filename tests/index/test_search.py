"""Asking the index."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tether.errors import TetherError
from tether.index.code import CodeIndex
from tether.index.store import fragment_id

Write = Callable[..., Path]


def paths(index: CodeIndex, text: str, **how: object) -> list[str]:
    return [hit.file_path for hit in index.search(text, **how).hits]  # type: ignore[arg-type]


def test_a_question_in_words_finds_the_code_before_tests_and_documents(index: CodeIndex) -> None:
    assert paths(index, "total of the cart with taxes")[0] == "src/shop/cart.py"


def test_a_name_finds_its_definition(index: CodeIndex) -> None:
    hit = index.search("find_price").hits[0]
    assert (hit.file_path, hit.kind, hit.name) == ("src/shop/prices.py", "function", "find_price")
    assert hit.content.startswith("def find_price") and hit.start_line == 6
    assert index.search("SessionStore").hits[0].file_path == "src/web/session.ts"


def test_tests_are_found_when_asked_for(index: CodeIndex) -> None:
    assert paths(index, "tests of the cart total")[0] == "tests/test_cart.py"


def test_a_path_in_a_report_is_evidence(index: CodeIndex) -> None:
    report = "It fails\n" + "some words that say little about anything at all " * 8
    report += '\n  File "/opt/app/src/shop/prices.py", line 9, in find_price\n'
    assert paths(index, report)[0] == "src/shop/prices.py"


def test_hits_carry_what_the_seed_asks_for(index: CodeIndex) -> None:
    hit = index.search("expire old sessions", speaking="typescript").hits[0]
    assert hit.name == "expireOld" and hit.parent_symbol == "class SessionStore"
    assert hit.imports == ("crypto",)
    assert hit.language == "typescript" and hit.lang_boost == 1.2
    assert 0 < hit.freshness <= 1 and 0 < hit.relevance_score <= 1
    assert len(hit.file_hash) == 64
    assert hit.id[14] == "7" and len(hit.id) == 36
    assert hit.lanes["lexical"] > 0


def test_scores_fall_from_first_to_last(index: CodeIndex) -> None:
    scores = [hit.relevance_score for hit in index.search("cart total session price").hits]
    assert scores == sorted(scores, reverse=True) and len(scores) > 2


def test_filters_narrow_by_language_and_path(index: CodeIndex) -> None:
    assert set(paths(index, "session cart", language="typescript")) == {"src/web/session.ts"}
    assert set(paths(index, "cart total", path="docs/**")) == {"docs/guide.md"}
    assert paths(index, "cart", path="nowhere/**") == []


def test_nothing_is_found_for_words_no_file_holds(index: CodeIndex) -> None:
    assert index.search("zyxwvut").hits == ()


def test_an_empty_question_is_refused(index: CodeIndex) -> None:
    with pytest.raises(TetherError, match="empty"):
        index.search("  \n")


def test_a_changed_file_is_indexed_before_the_answer(index: CodeIndex, write: Write) -> None:
    write("src/shop/prices.py", "def compute_discount(product):\n    return product.net / 2\n")
    hit = index.search("compute_discount").hits[0]
    assert (hit.file_path, hit.stale) == ("src/shop/prices.py", False)
    assert "find_price" not in {h.name for h in index.search("find_price").hits}


def test_new_and_removed_files_are_noticed(index: CodeIndex, write: Write, project: Path) -> None:
    write("src/shop/refund.py", "def refund_money(order):\n    return order\n")
    assert paths(index, "refund_money") == ["src/shop/refund.py"]
    os.unlink(project / "src/shop/refund.py")
    assert paths(index, "refund_money") == []


def test_a_file_in_a_new_folder_is_noticed(index: CodeIndex, write: Write, project: Path) -> None:
    (project / "later").mkdir()
    index.search("cart")
    write("later/thing.py", "def appear_later():\n    return 1\n")
    assert paths(index, "appear_later") == ["later/thing.py"]


def test_a_change_that_keeps_size_and_time_is_found_by_its_hash(project: Path, write: Write) -> None:
    young = project / "young.py"
    young.write_text("def alpha_one(): pass\n")
    with CodeIndex(str(project)) as index:
        index.index()
        before = young.stat()
        young.write_text("def gamma_two(): pass\n")
        os.utime(young, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert paths(index, "gamma_two") == ["young.py"]


def test_a_stale_hit_is_read_from_disk_when_another_process_holds_the_lease(
    index: CodeIndex, write: Write, project: Path
) -> None:
    with CodeIndex(str(project)) as other:
        assert other.lease.take()
        write("src/shop/cart.py", "class Cart:\n    def total(self):\n        return 'brand new'\n")
        answer = index.search("cart total")
        (hit,) = (h for h in answer.hits if h.file_path == "src/shop/cart.py")
        assert hit.stale and "brand new" in hit.content
        assert any("another process" in note for note in answer.notes)


def test_many_changes_are_said_instead_of_waited_for(project: Path, write: Write) -> None:
    for n in range(60):
        write(f"many/m{n}.py", f"def many_{n}():\n    return {n}\n")
    with CodeIndex(str(project)) as index:
        index.index()
        for n in range(60):
            write(f"many/m{n}.py", f"def changed_{n}():\n    return {n}\n", age=1800)
        assert any("INDEX_STALE" in note for note in index.search("cart").notes)


def test_without_an_index_and_without_the_lease_the_disk_answers(project: Path) -> None:
    with CodeIndex(str(project)) as busy, CodeIndex(str(project)) as index:
        assert busy.lease.take()
        answer = index.search("find_price tax")
        assert answer.source == "disk"
        assert "src/shop/prices.py" in {hit.file_path for hit in answer.hits}
        assert any("read from disk" in note for note in answer.notes)


def test_the_first_search_makes_the_index(project: Path) -> None:
    with CodeIndex(str(project)) as index:
        assert index.search("find_price").source == "index"


@pytest.mark.parametrize("how", ["database", "segment", "empty", "missing segment"])
def test_a_damaged_index_is_remade_and_said_so(project: Path, how: str) -> None:
    with CodeIndex(str(project)) as index:
        index.index()
        folder = Path(index.folder)
    (segment,) = folder.glob("*.seg")
    if how == "database":
        data = bytearray((folder / "index.db").read_bytes())
        data[:4096] = os.urandom(4096)
        (folder / "index.db").write_bytes(data)
        for extra in folder.glob("index.db-*"):
            extra.unlink()
    elif how == "segment":
        os.truncate(segment, segment.stat().st_size // 2)
    elif how == "empty":
        segment.write_bytes(b"\0" * segment.stat().st_size)
    else:
        segment.unlink()
    with CodeIndex(str(project)) as index:
        answer = index.search("find_price")
        assert "src/shop/prices.py" in {hit.file_path for hit in answer.hits}
        assert answer.notes, "damage is never silent"
        index.index()
    with CodeIndex(str(project)) as index:
        answer = index.search("find_price")
        assert (answer.source, answer.notes) == ("index", ())


def test_verify_finds_what_opening_cannot(project: Path) -> None:
    with CodeIndex(str(project)) as index:
        index.index()
        (segment,) = Path(index.folder).glob("*.seg")
        data = bytearray(segment.read_bytes())
        data[60] ^= 255
        segment.write_bytes(data)
        report = index.index(verify=True)
        assert "damaged" in report.notes[0] and report.total == 6


def test_an_index_of_another_version_is_remade(index: CodeIndex, project: Path) -> None:
    database = sqlite3.connect(os.path.join(index.folder, "index.db"))
    database.execute("UPDATE meta SET value = '0' WHERE key = 'version'")
    database.commit()
    database.close()
    with CodeIndex(str(project)) as again:
        assert again.search("find_price").hits


def test_two_fragments_of_one_file_have_two_ids() -> None:
    base = "0190163d8694739b821a1b0000000000"
    assert fragment_id(base, 0) != fragment_id(base, 1)


def test_status_tells_files_fragments_and_what_was_set_aside(index: CodeIndex, write: Write) -> None:
    write("picture.png", "not really")
    write("src/shop/cart.py", "changed = 1\n")
    status = index.status()
    assert (status.total_files, status.stale_files, status.state) == (6, 1, "ready")
    index.index()
    status = index.status()
    assert status.aside == {"binary": 1} and status.stale_files == 0
    assert status.fragments > 6 and status.symbols > 6 and status.index_size_bytes > 0
    assert status.last_indexed_at is not None


def test_more_than_half_stale_is_a_state(index: CodeIndex, project: Path) -> None:
    for path in project.rglob("*"):
        if path.is_file() and ".tether" not in path.parts:
            os.utime(path, (1, 1))
    assert index.status().state == "stale"
