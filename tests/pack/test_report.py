"""The attention map shows the most important first, however many there are."""

from __future__ import annotations

import random

from tests.pack.exact import exact, parse

from tether.pack.compose import Settings
from tether.pack.engine import pack
from tether.pack.report import MOST_SPOTS


def test_the_map_holds_the_most_important_and_counts_the_others() -> None:
    files = [(f"{i:03}.{'py' if i % 3 else 'js'}", f"x = {i}\n") for i in range(400)]
    random.Random(3).shuffle(files)
    root = parse(pack(files, lens="debug").text)
    shown = [(spot.get("path"), int(spot.get("priority"))) for spot in root.findall(".//hotspot")]
    everything = sorted(
        ((path, 100 if path.endswith("py") else 90) for path, _ in files), key=lambda s: (-s[1], s[0])
    )
    assert shown == everything[:MOST_SPOTS]
    assert root.find(".//attention_map").get("omitted") == str(400 - MOST_SPOTS)


def test_every_file_is_in_the_pack_in_the_map_or_counted() -> None:
    files = [(f"{i:03}.py", f"def f{i}():\n    return {i}\n" * (i % 40)) for i in range(300)]
    made = pack(files, 6000, "debug", Settings(tokenizer=exact()))
    root = parse(made.text)
    listed = len(root.findall(".//hotspot")) + len(root.findall(".//coldspot"))
    assert len(made.entries) + len(made.dropped) == 300
    assert listed + int(root.find(".//attention_map").get("omitted", 0)) == 300
    assert root.findtext(".//dropped_files") == str(len(made.dropped))
    assert root.findtext(".//truncated_files") == str(sum(e.truncated for e in made.entries))
