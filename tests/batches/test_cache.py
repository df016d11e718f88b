"""Stores that are made once, found again, mended when damaged, and dropped when there are too many."""

from __future__ import annotations

import gc
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from seqlab.batches import cache
from seqlab.batches.cache import cached_store
from seqlab.batches.columns import SequenceColumn, StepColumn
from seqlab.batches.store import Store, damaged_files
from seqlab.batches.store_writer import StoreWriter
from seqlab.core.cache import cache_folder
from seqlab.core.errors import DataError, EnvironmentProblem


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


TOKENS = [StepColumn("tokens", np.dtype(np.uint8))]


class Maker:
    """Writes a store of given ids and counts how often it had to."""

    def __init__(self, *ids: int) -> None:
        self.ids = ids
        self.times = 0

    def __call__(self, folder: Path) -> None:
        self.times += 1
        writer = StoreWriter(folder, TOKENS)
        writer.append(tokens=self.ids)
        writer.finish()


def stores(folder: Path) -> list[Path]:
    return [path.parent for path in folder.rglob("store.json")]


def test_a_store_is_made_once_for_the_same_content_and_anew_for_other() -> None:
    first, second = Maker(1, 2), Maker(3)
    for _ in range(3):
        assert cached_store({"text": "a", "size": 1}, first)["tokens"][0].tolist() == [1, 2]
        assert cached_store({"size": 2, "text": "a"}, second)["tokens"][0].tolist() == [3]
    assert cached_store({"size": 1, "text": "a"}, first)["tokens"][0].tolist() == [
        1,
        2,
    ]  # the order of the description does not matter
    assert (first.times, second.times) == (1, 1)


def damage_values(store: Path) -> None:
    os.truncate(store / "tokens.bin", 1)


def lose_a_file(store: Path) -> None:
    (store / "tokens.offsets.bin").unlink()


def index_of(text: str) -> Callable[[Path], None]:
    def write(store: Path) -> None:
        (store / "store.json").write_text(text, encoding="utf-8")

    return write


def replaced(name: str, make: Callable[[Path], None]) -> Callable[[Path], None]:
    """Something else in the place of a file of the store, or of the whole store."""

    def replace(store: Path) -> None:
        path = store / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        make(path)

    return replace


@pytest.mark.parametrize(
    "damage",
    [
        damage_values,
        lose_a_file,
        *(
            index_of(text)
            for text in (
                "",
                "{",
                "[]",
                "null",
                "3",
                "{}",
                '{"format": 1}',
                '{"format": 1, "sizes": []}',
                '{"format": 1, "sizes": {}}',
            )
        ),
        index_of('{"format": 999, "sizes": {}}'),
        index_of("[" * 200_000),
        lambda store: (store / "store.json").write_bytes(b"\xff\xfe\x00"),
        replaced("store.json", lambda path: path.symlink_to("/dev/zero")),
        replaced("store.json", os.mkfifo),
        replaced("store.json", Path.mkdir),
        replaced("tokens.bin", os.mkfifo),
        replaced("", Path.touch),
    ],
)
def test_a_damaged_store_is_made_again(folder: Path, damage: Callable[[Path], None]) -> None:
    maker = Maker(5, 6)
    cached_store({"a": 1}, maker)
    damage(stores(folder)[0])
    assert cached_store({"a": 1}, maker)["tokens"][0].tolist() == [5, 6]
    assert maker.times == 2
    assert len(stores(folder)) == 1


class RandomMaker(Maker):
    """Writes a store with every kind of column, and facts."""

    def __call__(self, folder: Path) -> None:
        self.times += 1
        chance, width = np.random.default_rng(4), self.ids[0]
        steps, future = (
            StepColumn("steps", np.dtype(np.uint16), width),
            SequenceColumn("future", np.dtype(np.float32), width),
        )
        writer = StoreWriter(
            folder,
            [
                steps,
                StepColumn("labels", np.dtype(np.int32)),
                future,
                SequenceColumn("line", np.dtype(np.int64)),
            ],
        )
        for number in range(30):
            writer.append(
                steps=chance.integers(0, 500, (number % 7, *steps.shape)),
                labels=chance.integers(0, 9, number % 3),
                future=chance.random(width, np.float32) if width else chance.random(),
                line=number + 2,
            )
        writer.finish(longest=6, name="größe")


def contents(store: Store) -> tuple[object, ...]:
    rows = {
        column.name: [np.asarray(steps).tolist() for steps in store[column.name]] for column in store.columns
    }
    sizes = {
        column.name: (store[column.name].lengths.tolist(), store[column.name].num_steps)
        for column in store.columns
    }
    return store.columns, rows, sizes, len(store), store.facts


@pytest.mark.slow
@pytest.mark.parametrize("width", [0, 3])
@pytest.mark.parametrize(
    "name",
    [
        "steps.bin",
        "steps.offsets.bin",
        "labels.bin",
        "labels.offsets.bin",
        "future.bin",
        "line.bin",
        "store.json",
    ],
)
def test_no_flipped_bit_in_any_file_of_a_store_changes_what_is_read(
    folder: Path, name: str, width: int
) -> None:
    maker = RandomMaker(width)
    whole = contents(cached_store({"a": 1}, maker))
    path = stores(folder)[0] / name
    chance = random.Random(5)
    for _ in range(60):
        content = path.read_bytes()
        place = chance.randrange(len(content))
        path.write_bytes(
            content[:place] + bytes([content[place] ^ 1 << chance.randrange(8)]) + content[place + 1 :]
        )
        assert contents(cached_store({"a": 1}, maker)) == whole, place
    assert maker.times > 30  # a flip in store.json may change nothing that is read, such as a space


@pytest.mark.parametrize(
    "exchanged", [("steps.bin", "line.bin"), ("steps.offsets.bin", "labels.offsets.bin")]
)
def test_files_that_changed_places_are_noticed(folder: Path, exchanged: tuple[str, str]) -> None:
    maker = RandomMaker(0)
    whole = contents(cached_store({"a": 1}, maker))
    first, second = (stores(folder)[0] / name for name in exchanged)
    before = first.read_bytes(), second.read_bytes()
    first.write_bytes(before[1])
    second.write_bytes(before[0])
    assert contents(cached_store({"a": 1}, maker)) == whole


@pytest.mark.parametrize("act", ["copied", "exchanged"])
def test_a_whole_store_in_the_place_of_another_is_made_again(folder: Path, act: str) -> None:
    """Every digest in it is right."""
    first, second = Maker(1, 2), Maker(3)
    cached_store({"text": "a"}, first)
    (place,) = [path.parent for path in folder.rglob("store.json")]
    cached_store({"text": "b"}, second)
    (other,) = [path for path in stores(folder) if path != place]
    other.rename(folder / "moved")
    if act == "exchanged":
        place.rename(other)
        (folder / "moved").rename(place)
    else:
        shutil.rmtree(place)
        shutil.copytree(folder / "moved", place)
        (folder / "moved").rename(other)
    assert cached_store({"text": "a"}, first)["tokens"][0].tolist() == [1, 2]
    assert cached_store({"text": "b"}, second)["tokens"][0].tolist() == [3]
    assert (first.times, second.times) == ((2, 1) if act == "copied" else (2, 2))


def test_a_store_of_the_format_before_digests_is_made_again(folder: Path) -> None:
    maker = Maker(5, 6)
    cached_store({"a": 1}, maker)
    place = stores(folder)[0]
    sizes = {path.name: path.stat().st_size for path in place.glob("*.bin")}
    before = {"format": 1, "dtype": "uint8", "width": 0, "sequences": 1, "sizes": sizes, "facts": {}}
    (place / "store.json").write_text(json.dumps(before), encoding="utf-8")
    assert cached_store({"a": 1}, maker)["tokens"][0].tolist() == [5, 6]
    assert maker.times == 2


@pytest.mark.slow
def test_a_failed_making_leaves_nothing(folder: Path) -> None:
    def fail(place: Path) -> None:
        StoreWriter(place, TOKENS).append(tokens=np.zeros(3_000_000, np.uint8))
        raise DataError("line 7 is broken")

    with pytest.raises(DataError):
        cached_store({"a": 1}, fail)
    gc.collect()
    assert list(folder.rglob("*.bin")) == []
    assert cached_store({"a": 1}, Maker(4))["tokens"][0].tolist() == [4]


def test_what_a_killed_process_left_is_swept_up(folder: Path) -> None:
    program = (
        "import os, numpy as np\n"
        "from seqlab.batches.cache import cached_store\n"
        "from seqlab.batches.columns import StepColumn\n"
        "from seqlab.batches.store_writer import StoreWriter\n"
        "def write(folder):\n"
        "    writer = StoreWriter(folder, [StepColumn('tokens', np.dtype(np.uint8))])\n"
        "    writer.append(tokens=np.zeros(5_000_000, np.uint8))\n"
        "    os._exit(9)\n"
        "cached_store({'a': 1}, write)"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True).returncode == 9
    assert any(path.stat().st_size for path in folder.rglob("*.bin"))
    cached_store({"another": 2}, Maker(4))
    assert sum(path.stat().st_size for path in folder.rglob("tokens.bin")) == 1
    assert cached_store({"a": 1}, Maker(3))["tokens"][0].tolist() == [3]


@pytest.mark.slow
def test_two_processes_that_ask_at_once_share_the_work(folder: Path, tmp_path: Path) -> None:
    program = (
        "import sys, time, numpy as np\n"
        "from pathlib import Path\n"
        "from seqlab.batches.cache import cached_store\n"
        "from seqlab.batches.columns import StepColumn\n"
        "from seqlab.batches.store_writer import StoreWriter\n"
        "def write(folder):\n"
        "    with Path(sys.argv[1]).open('a') as log: log.write('made\\n')\n"
        "    writer = StoreWriter(folder, [StepColumn('tokens', np.dtype(np.uint8))])\n"
        "    for _ in range(20):\n"
        "        writer.append(tokens=np.arange(100))\n"
        "        time.sleep(0.02)\n"
        "    writer.finish()\n"
        "print(cached_store({'a': 1}, write)['tokens'].values.sum(), end='')"
    )
    log = tmp_path / "log"
    asking = [
        subprocess.Popen([sys.executable, "-c", program, str(log)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert [process.communicate()[0] for process in asking] == ["99000"] * 3
    assert log.read_text() == "made\n"
    assert len(stores(folder)) == 1


def test_the_stores_unused_for_longest_are_dropped_when_the_cache_is_full(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    makers = {name: Maker(*[number] * 100) for number, name in enumerate("abc")}
    for age, name in enumerate("abc"):
        cached_store({"name": name}, makers[name])
        os.utime(max(stores(folder), key=lambda path: path.stat().st_mtime), (1000 + age, 1000 + age))
    kept = cached_store({"name": "a"}, makers["a"])  # used again: now the newest
    size = sum(path.stat().st_size for path in stores(folder)[0].iterdir())
    monkeypatch.setattr(cache, "LARGEST_CACHE", 3 * size + 10)
    cached_store({"name": "d"}, Maker(*[7] * 100))
    assert len(stores(folder)) == 3
    for name in "ac":
        cached_store({"name": name}, makers[name])
    assert [makers[name].times for name in "ac"] == [1, 1]
    cached_store({"name": "b"}, makers["b"])
    assert makers["b"].times == 2
    assert kept["tokens"][0].tolist() == [0] * 100


def test_a_store_that_is_being_made_is_never_dropped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "LARGEST_CACHE", 1)

    def slow(place: Path) -> None:
        writer = StoreWriter(place, TOKENS)
        writer.append(tokens=np.full(3_000_000, 8))
        assert cached_store({"other": 1}, Maker(1, 2))["tokens"][0].tolist() == [
            1,
            2,
        ]  # another store is made meanwhile, in a full cache
        writer.finish()

    assert cached_store({"slow": 1}, slow)["tokens"].num_steps == 3_000_000


def test_what_is_not_ours_is_never_dropped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user may name a folder that holds other things."""
    strangers = [
        folder / "photos" / "cat.jpg",
        folder / ("f" * 31) / "note",
        folder / "draft.tmp" / "note",
        folder / "file",
    ]
    for path in strangers:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"mine" * 1000)
    monkeypatch.setattr(cache, "LARGEST_CACHE", 1)
    cached_store({"a": 1}, Maker(1))
    cached_store({"b": 1}, Maker(2))
    assert len(stores(folder)) == 1
    assert all(path.read_bytes() == b"mine" * 1000 for path in strangers)


def test_an_open_store_stays_readable_after_it_was_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    store = cached_store({"a": 1}, Maker(1, 2, 3))
    monkeypatch.setattr(cache, "LARGEST_CACHE", 1)
    cached_store({"b": 1}, Maker(4))
    assert store["tokens"][0].tolist() == [1, 2, 3]


def test_a_cache_that_cannot_be_written_is_said_in_words(folder: Path) -> None:
    folder.write_text("a file stands here")
    with pytest.raises(EnvironmentProblem) as caught:
        cached_store({"a": 1}, Maker(1))
    assert str(folder) in str(caught.value)
    assert "SEQLAB_CACHE" in str(caught.value)


def test_the_cache_stands_where_the_user_says(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert cache_folder() == folder
    monkeypatch.delenv("SEQLAB_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "seqlab"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / ".cache" / "seqlab"


def test_a_whole_store_is_told_from_a_part(tmp_path: Path) -> None:
    Maker(1)(tmp_path / "whole")
    assert damaged_files(tmp_path / "whole") == []
    assert damaged_files(tmp_path / "missing") == ["store.json"]


def test_a_store_says_which_files_were_damaged_when_it_is_made_again(folder: Path) -> None:
    maker = Maker(1, 2, 3)
    assert cached_store({"a": 1}, maker).rebuilt == []  # made for the first time
    (path,) = folder.rglob("tokens.bin")
    path.write_bytes(b"\1\2\2")
    assert cached_store({"a": 1}, maker).rebuilt == ["tokens.bin"]
    assert cached_store({"a": 1}, maker).rebuilt == []
    assert maker.times == 2


class Text:
    """Data that somebody may change while it is read."""

    name = "notes.txt"

    def __init__(self, content: str) -> None:
        self.content = content

    def fingerprint(self) -> str:
        return self.content


def test_data_that_changes_while_it_is_encoded_is_refused_and_not_kept(folder: Path) -> None:
    text, maker = Text("old"), Maker(1)

    def write(place: Path) -> None:
        maker(place)
        text.content = "new"

    with pytest.raises(DataError, match=r"notes\.txt.*changed") as caught:
        cached_store({"size": 1}, write, source=text)
    assert caught.value.cure
    assert stores(folder) == []
    text.content = "old"
    assert cached_store({"size": 1}, Maker(2), source=text)["tokens"][0].tolist() == [2]


def test_stores_of_different_data_are_different() -> None:
    ids = [
        cached_store({"size": 1}, Maker(number), source=Text(content))["tokens"][0].tolist()
        for number, content in enumerate(["old", "new", "old"])
    ]
    assert ids == [[0], [1], [0]]
