"""The semantic lane: vectors, what waits for them, and how lists become one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest

from tether.config import Config, Embedding, Index, Retrieval
from tether.embed.chain import Chain
from tether.embed.hashed import HashedModel
from tether.errors import TetherError
from tether.index.code import CodeIndex
from tether.index.fusion import blend, rank_by_seed
from tether.index.home import make_chain, open_index
from tether.index.semantic import Semantic, Spot
from tether.index.similar import find_similar
from tether.index.store import FileRow
from tether.index.vectors import RETRY_SECONDS, VectorStore

Write = Callable[..., Path]


class Moody(HashedModel):
    """A model that can be out of reach."""

    name = "moody"
    well = True

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        if not self.well:
            raise TetherError("EMBEDDING_FAILED", "no internet")
        return super().embed(texts, query=query)


def with_meaning(index: CodeIndex, *models: Any) -> Semantic:
    local, cloud = [*models, None][:2]
    index.semantic = Semantic(index.folder, Chain(local, cloud, cloud_enabled=cloud is not None))
    return index.semantic


def filled(index: CodeIndex, semantic: Semantic) -> Any:
    store = index.store()
    assert store is not None
    return semantic.fill(store)


def test_every_fragment_gets_a_vector_once(index: CodeIndex) -> None:
    semantic = with_meaning(index, HashedModel())
    done = filled(index, semantic)
    assert done.done > 6 and done.left == 0 and done.models == ("tether-hashed-1",)
    assert filled(index, semantic).done == 0
    (model,) = semantic.vectors.models()
    assert (model.dimension, model.rows) == (256, done.done)


def test_moved_content_is_not_embedded_again(index: CodeIndex, project: Path) -> None:
    semantic = with_meaning(index, HashedModel())
    filled(index, semantic)
    os.rename(project / "src/shop", project / "src/store")
    index.index()
    assert filled(index, semantic).done == 0
    assert "src/store/prices.py" in {h.file_path for h in index.search("gross price with tax").hits}


def test_a_hit_carries_its_cosine_and_ranks(index: CodeIndex) -> None:
    filled(index, with_meaning(index, HashedModel()))
    hit = index.search("find_price gross price of a product").hits[0]
    assert hit.file_path == "src/shop/prices.py"
    assert hit.cos is not None and 0 < hit.cos <= 1
    assert hit.lanes["lexical_rank"] == 1 and "semantic_rank" in hit.lanes
    assert 0 < hit.relevance_score <= 1


def test_the_seed_ranking_is_cosine_times_freshness_times_language(index: CodeIndex) -> None:
    filled(index, with_meaning(index, HashedModel()))
    index.ranking = "seed"
    hits = index.search("expire old sessions", 5, speaking="typescript").hits
    assert "typescript" in {hit.language for hit in hits}
    for hit in hits:
        assert hit.cos is not None
        boost = 1.2 if hit.language == "typescript" else 1.0
        assert hit.lang_boost == boost
        assert hit.relevance_score == pytest.approx(
            min(1.0, max(0.0, hit.cos * hit.freshness * boost)), abs=1e-6
        )


def row(number: int, language: str = "python", age_days: float = 0.0) -> FileRow:
    mtime = int((1_000_000_000 - age_days * 86_400) * 1e9)
    return FileRow(number, f"f{number}.py", language, 0, 1, mtime, "", 0, "0" * 32, "[]", "[]", "")


def test_the_seed_formula_to_the_letter() -> None:
    spots = [
        Spot(row(1), 0, 0.9, "m"),
        Spot(row(2, "rust"), 0, 0.8, "m"),
        Spot(row(3, age_days=30), 0, 1.0, "m"),
        Spot(row(4, "rust"), 0, 0.99, "m"),
        Spot(row(5), 0, -0.5, "m"),
    ]
    ranked = {spot.file.id: score for score, spot in rank_by_seed([spots], "rust", now=1_000_000_000)}
    assert ranked[1] == pytest.approx(0.9)
    assert ranked[2] == pytest.approx(0.96)
    assert ranked[3] == pytest.approx(2.718281828**-1)
    assert ranked[4] == 1.0 and ranked[5] == 0.0
    assert list(ranked) == [4, 2, 1, 3, 5]


def test_fusion_keeps_the_words_first_and_adds_what_meaning_alone_finds() -> None:
    from tether.index.lexical import Candidate

    words = [Candidate(row(n), 0, 1.0 / n, {}) for n in (1, 2, 3)]
    lists = [[Spot(row(9), 0, 0.9, "a"), Spot(row(2), 0, 0.8, "a")], [Spot(row(9), 0, 0.7, "b")]]
    fused = blend(words, lists, wants_tests=False, limit=10)
    order = [(item.candidate or item.spot).file.id for item in fused]  # type: ignore[union-attr]
    assert set(order) == {1, 2, 3, 9} and order.index(2) < order.index(3)
    assert all(0 < item.score <= 1 for item in fused)


def test_what_fails_waits_and_is_done_when_the_model_answers_again(index: CodeIndex) -> None:
    model = Moody()
    semantic = with_meaning(index, model)
    model.well = False
    done = filled(index, semantic)
    assert done.done == 0 and done.left == done.postponed > 6 and done.reasons == ("moody: no internet",)
    assert index.search("find_price").hits, "words are searched meanwhile"
    assert filled(index, semantic).postponed == 0, "not before five minutes have passed"
    model.well = True
    semantic.vectors.wake()
    again = filled(index, semantic)
    assert again.done == done.left and again.left == 0


def test_the_queue_survives_the_process_and_comes_due_by_itself(tmp_path: Path) -> None:
    store = VectorStore(str(tmp_path))
    store.postpone([b"a" * 32, b"b" * 32], "no internet", now=1_000)
    store.close()
    store = VectorStore(str(tmp_path))
    assert store.count_pending() == 2
    assert len(store.postponed(now=1_000 + RETRY_SECONDS - 1)) == 2
    assert store.postponed(now=1_000 + RETRY_SECONDS) == set()
    store.close()


def test_a_new_model_takes_over_while_the_old_one_still_answers(index: CodeIndex) -> None:
    filled(index, with_meaning(index, HashedModel(64)))
    semantic = with_meaning(index, HashedModel(128), Moody(64))
    store = index.store()
    assert store is not None
    semantic.chain.cloud = HashedModel(64)
    assert len(semantic.near(store, "find_price")) == 1, "the old table answers"
    filled(index, semantic)
    assert [(m.dimension) for m in semantic.vectors.models()] == [128]


def test_mixed_models_are_each_asked_in_their_own_table(index: CodeIndex, write: Write) -> None:
    local, cloud = Moody(64), HashedModel(128)
    semantic = with_meaning(index, local, cloud)
    filled(index, semantic)
    local.well = False
    write("src/late.py", "def late_arrival(guest):\n    return guest\n")
    index.index()
    done = filled(index, semantic)
    assert done.models == ("tether-hashed-1",)
    local.well = True
    store = index.store()
    assert store is not None
    assert len(semantic.near(store, "late arrival of a guest")) == 2
    assert index.search("late arrival of a guest").hits[0].file_path == "src/late.py"


def test_a_scan_finds_exactly_the_nearest(tmp_path: Path) -> None:
    numbers = numpy.random.default_rng(3)
    rows = numbers.normal(size=(70_000, 16)).astype(numpy.float32)
    rows /= numpy.linalg.norm(rows, axis=1, keepdims=True)
    store = VectorStore(str(tmp_path))
    hashes = [n.to_bytes(32, "big") for n in range(len(rows))]
    store.put("m", hashes, rows)
    (model,) = store.models()
    found = store.scan(model, rows[69_999], 10)
    order = numpy.argsort(-(rows @ rows[69_999]))[:10]
    assert [int.from_bytes(near.hash, "big") for near in found] == [int(n) for n in order]
    assert found[0].cos == pytest.approx(1.0, abs=1e-5)
    store.close()


def test_a_torn_vector_file_costs_the_lane_and_nothing_else(index: CodeIndex) -> None:
    semantic = with_meaning(index, HashedModel())
    filled(index, semantic)
    (data,) = Path(index.folder).glob("vectors.*.f32")
    os.truncate(data, 10)
    assert index.search("find_price").hits[0].file_path == "src/shop/prices.py"


def test_a_damaged_vector_table_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "vectors.db").write_bytes(b"not a database" * 100)
    store = VectorStore(str(tmp_path))
    assert store.models() == []
    store.close()


def test_off_means_that_no_model_is_loaded(project: Path) -> None:
    with open_index(str(project)) as index:
        assert index.semantic is None


def test_configuration_turns_the_lane_on_and_narrows_the_index(project: Path) -> None:
    config = Config(retrieval=Retrieval(semantic="on", ranking="seed"), index=Index(exclude=("docs/",)))
    with open_index(str(project), config) as index:
        index.index()
        assert index.semantic is not None and index.ranking == "seed"
        assert index.status().total_files == 5


def test_the_cloud_is_not_even_constructed_without_leave() -> None:
    assert make_chain(Config(embedding=Embedding(cloud_url="nonsense"))).cloud is None
    with pytest.raises(TetherError):
        make_chain(Config(embedding=Embedding(cloud_url="http://example.com", cloud_enabled=True)))


def test_a_link_does_not_choose_where_the_index_goes(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    os.symlink(outside, project / ".tether")
    with pytest.raises(TetherError) as error:
        open_index(str(project))
    assert error.value.code == "SECURITY_VIOLATION"
    assert list(outside.iterdir()) == []


def test_similar_code_is_found_and_itself_left_out(project: Path, write: Write) -> None:
    body = "def {0}(path):\n    handle = open_archive(path)\n    verify_checksum(handle)\n    return unpack(handle)\n"
    write("a/first.py", body.format("load_first"))
    write("b/second.py", body.format("load_second"))
    with CodeIndex(str(project)) as index:
        hits = find_similar(index, "a/first.py", 3)
        assert hits[0].file_path == "b/second.py"
        assert "a/first.py" not in {hit.file_path for hit in hits}
        with pytest.raises(TetherError):
            find_similar(index, "nowhere.py", 1)


def test_embedding_latency_is_kept(index: CodeIndex) -> None:
    semantic = with_meaning(index, HashedModel())
    began = time.perf_counter()
    filled(index, semantic)
    assert semantic.latencies and max(semantic.latencies) <= (time.perf_counter() - began) * 1000


def test_a_watcher_embeds_changes_at_once_and_what_waits_every_five_minutes(
    index: CodeIndex, write: Write
) -> None:
    from tether.index.watch import Watcher

    model = Moody()
    semantic = with_meaning(index, model)
    model.well = False
    watcher = Watcher(index)
    assert watcher.embed(changed=False, now=0), "what an earlier run left is tried at the start"
    waiting = semantic.vectors.count_pending()
    assert waiting > 6
    model.well = True
    assert not watcher.embed(changed=False, now=RETRY_SECONDS - 1)
    semantic.vectors.wake()  # five minutes pass for the queue, too
    assert watcher.embed(changed=False, now=RETRY_SECONDS)
    assert semantic.vectors.count_pending() == 0
    assert index.lease.take()
    write("src/new.py", "def newly_made():\n    return 1\n")
    assert list(watcher.follow(["src/new.py"]))
    before = semantic.vectors.models()[0].rows
    assert watcher.embed(changed=True, now=RETRY_SECONDS + 1)
    assert semantic.vectors.models()[0].rows == before + 1
