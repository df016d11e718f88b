"""Damaged archives, caches and runs, lost output, and limits: the checks that `integrity.py` does not break."""

from __future__ import annotations

from tests.mutations.mutant import Mutant

ARCHIVES = "tests/sources/test_damaged_archives.py"
FLOODS = "tests/sources/test_floods.py"
STREAMS = "tests/cli/test_standard_streams.py"

DAMAGE = [
    Mutant(
        "tar-without-end-blocks",
        "sources/files/tar_stream.py",
        "    if stream.position < end + END:",
        "    if stream.position < end:",
        f"{ARCHIVES} -k 'no_cut_gives and reviews.tar or end_blocks'",
        "A tar that was cut between two members has fewer rows.",
    ),
    Mutant(
        "tar-ends-at-an-erased-header",
        "sources/files/tar_stream.py",
        "    if stream.end_of_content > end:",
        "    if stream.end_of_content < 0:",
        f"{ARCHIVES} -k 'erased_header or two_archives'",
        "What follows two blocks of zeros is ignored.",
    ),
    Mutant(
        "zip-members-not-counted",
        "sources/files/zip_directory.py",
        "    if num_members % modulus != promised:",
        "    if num_members % modulus > promised:",
        f"{ARCHIVES} -k fewer_members",
        "A member that one flipped bit hides is missed by nobody.",
    ),
    Mutant(
        "zip-names-not-compared",
        "sources/files/zip_directory.py",
        "    if name != member.orig_filename:",
        "    if not name:",
        f"{ARCHIVES} -k 'flipped_bit_in_a_header and zip'",
        "A renamed member of a zip is another label, or no text at all.",
    ),
    Mutant(
        "repeated-member-accepted",
        "sources/files/trees.py",
        "    if len(set(names)) < len(names):",
        "    if len(set(names)) > len(names):",
        f"{ARCHIVES} -k in_an_archive_twice",
        "A text that was replaced inside an archive is read as well.",
    ),
    Mutant(
        "cache-verified-by-size",
        "batches/store.py",
        "        return path.is_file() and is_intact(path, record)",
        '        return path.is_file() and path.stat().st_size == record["size"]',
        "tests/runs/test_damaged_cache.py -k flips",
        "Flipped token ids in the cache train another model.",
    ),
    Mutant(
        "damaged-index-of-the-cache",
        "batches/store.py",
        "    except (OSError, ValueError, KeyError, TypeError, RecursionError):\n        return [INDEX]",
        "    except OSError:\n        return [INDEX]",
        "tests/batches/test_cache.py -k 'damaged_store or flipped_bit'",
        "A damaged index of the cache ends a training in a traceback.",
    ),
    Mutant(
        "damaged-cache-not-told",
        "batches/cache.py",
        "        store.rebuilt = damaged if was_there else []",
        "        store.rebuilt = []",
        "tests/runs/test_damaged_cache.py -k said_once",
        "Nobody hears that the disk damages files.",
    ),
    Mutant(
        "expression-that-matches-nothing",
        "tokens/engine_bounds.py",
        "    if isinstance(text, str):\n        return len(text) or 0.5\n    return 0.5",
        "    if isinstance(text, str):\n        return len(text) or 0.5\n    return 1.0",
        "tests/interop/test_hostile_imports.py -k flood",
        "A replacement at every place of a text counts as one for every character.",
    ),
    Mutant(
        "long-words-accepted",
        "tokens/engine_bounds.py",
        '    if model.get("max_input_chars_per_word", 0) > LONGEST_WORD:',
        '    if model.get("max_input_chars_per_word", 0) < 0:',
        "tests/interop/test_hostile_imports.py -k flood",
        "WordPiece takes time by the square of a word of any length.",
    ),
    Mutant(
        "shared-storage-unbounded",
        "interop/formats/tensor_files.py",
        "    if claimed > MAX_SHARED * size:",
        "    if claimed < 0:",
        "tests/interop/test_hostile_imports.py -k one_storage",
        "Forty tensors of one storage become forty copies.",
    ),
    Mutant(
        "results-of-any-type",
        "runs/folder/parse_results.py",
        "    if not isinstance(raw, dict) or not all(isinstance(raw.get(name), kind) for name, kind in PARTS.items()):",
        "    if not isinstance(raw, dict) or not PARTS:",
        "tests/runs/test_manifest.py -k other_types",
        "Warnings that are an object are taken for a list.",
    ),
    Mutant(
        "odd-results-are-a-bug",
        "runs/folder/results.py",
        "    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:",
        "    except (OSError, LookupError, RecursionError) as error:",
        "tests/runs/test_manifest.py -k other_types",
        "Results of another type end in a traceback.",
    ),
    Mutant(
        "seconds-of-any-type",
        "runs/folder/parse_results.py",
        "    if isinstance(seconds, bool) or not isinstance(seconds, int | float):",
        "    if seconds is None:",
        "tests/runs/test_manifest.py -k other_types",
        "The training time is a text.",
    ),
    Mutant(
        "warnings-of-any-type",
        "runs/folder/parse_results.py",
        '    if not all(isinstance(warning, str) for warning in raw["warnings"]):',
        '    if raw["warnings"] is None:',
        "tests/runs/test_manifest.py -k other_types",
        "A warning is a number.",
    ),
    Mutant(
        "cure-that-writes-nothing",
        "runs/folder/manifest.py",
        'or write it again: seqlab train --resume {shlex.quote(str(folder))}"',
        'or write it again: seqlab evaluate {shlex.quote(str(folder))}"',
        "tests/runs/test_manifest.py -k edited_score",
        "The command that should restore results.json restores nothing.",
    ),
    Mutant(
        "file-name-not-text",
        "sources/files/compression.py",
        "    check_name_is_text(str(path.absolute()))",
        "    assert str(path.absolute())",
        "tests/sources/test_not_text.py -k whose_name",
        "The name of a file that is not UTF-8 cannot be written into a recipe.",
    ),
]
