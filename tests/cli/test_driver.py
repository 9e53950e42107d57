"""Decoding, phases and the search for targets, without the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cajeta_dot import driver
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.source import Source

BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"a\r\nb\r", "a\r\nb\r"),
        (BOM + b"x", "x"),
        (BOM, ""),
        ("größe 世🙂".encode(), "größe 世🙂"),
        (BOM + BOM, "\ufeff"),
    ],
)
def test_decode(data: bytes, text: str) -> None:
    source, reporter = driver.decode("k.cj", data)
    assert (source.name, source.text, reporter.found) == ("k.cj", text, [])
    assert reporter.source is source


# Bytes -> byte, its offset in the file, line and column.
BAD = {
    b"\xff": ("0xFF", 0, (1, 1)),
    b"ab\n\xe4\xb8x": ("0xE4", 3, (2, 1)),
    BOM + b"a\xe9": ("0xE9", 4, (1, 2)),
    "größe\n".encode() + b"x\x80y\xff": ("0x80", 9, (2, 2)),
    b"a\xed\xa0\x80": ("0xED", 1, (1, 2)),
    b"a\xc3": ("0xC3", 1, (1, 2)),
}


@pytest.mark.parametrize("data", BAD)
def test_bad_utf8_is_placed(data: bytes) -> None:
    byte, offset, position = BAD[data]
    source, reporter = driver.decode("k.cj", data)
    (found,) = reporter.found
    assert (found.code, found.message) == ("E0101", f"the file is not UTF-8: byte {byte} at offset {offset}")
    assert found.primary
    assert source.position(found.primary.start) == position
    assert driver.check_source(source, reporter) is None
    assert len(reporter.found) == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le"])
def test_utf16_is_recognized(encoding: str) -> None:
    mark = "" if encoding == "utf-16" else "\ufeff"
    (found,) = driver.decode("k.cj", (mark + "class K").encode(encoding))[1].found
    assert found.notes == ("the file begins like UTF-16 text; save it as UTF-8",)


def test_size_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "MAX_SOURCE_BYTES", 9)
    assert not driver.decode("k.cj", b"123456789")[1].failed
    source, reporter = driver.decode("k.cj", b"1234567890")
    assert [(d.code, d.message, d.line) for d in reporter.found] == [
        ("E0112", "the file has more than 9 bytes, the most that is read", 1)
    ]
    assert driver.check_source(source, reporter) is None


def test_check_source_stops_after_errors() -> None:
    for text, code in (
        ("class K { static int32 f() { return 1 } }", "E0104"),
        ("class K { static int32 f() { return x; } }", "E0201"),
    ):
        source, reporter = driver.decode("k.cj", text.encode())
        assert driver.check_source(source, reporter) is None
        assert [d.code for d in reporter.found] == [code]


def test_emit_reports_the_choices() -> None:
    from cajeta_dot.backends import Options

    source, reporter = driver.decode("k.cj", b"class K { static int32 one() { return 1; } }")
    program, found = driver.check_source(source, reporter), driver.find_target("fk")
    assert program
    assert found
    artifact = driver.emit(program, *found, "llvm-ir", Options(), reporter)
    assert artifact
    assert str(artifact.content).startswith("llvm-ir fake K.one\n")
    assert [(d.code, d.message) for d in reporter.found] == [("R0406", "`dotAccum` of 64 lanes, us, becomes vnni, not exact")]


def test_an_unknown_target_is_reported() -> None:
    reporter = Reporter(None)
    assert driver.resolve_target("fkae", reporter) is None
    assert [d.code for d in reporter.found] == ["E0603"]


def test_targets_are_found_by_name_and_alias() -> None:
    for name in ("fake-gpu", "fake"):
        backend, info = driver.find_target(name) or (None, None)
        assert backend
        assert info
        assert (backend.name, info.name) == ("fake", name)
        assert name != "fake" or info.aliases == ("fk",)
    _, info = driver.find_target("fk") or (None, None)
    assert info
    assert info.name == "fake"
    assert driver.find_target("FAKE") is None
    assert {"fake", "fk", "fake-gpu"} <= set(driver.target_names())


def test_only_the_backend_that_is_needed_is_loaded(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_distribution(installed / "other-1.0.dist-info", "aa = missing_module:backend\nzz = missing_module:backend\n")
    assert driver.find_target("fake-gpu")
    with pytest.raises(ModuleNotFoundError):
        driver.find_target("aa-target")


def write_distribution(folder: Path, points: str) -> None:
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {folder.name.partition('-')[0]}\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(f"# a comment\n[ignored]\nfake = nothing:x\n\n[cajeta_dot.backends]\n{points}")


def test_dotted_attributes_and_extras(installed: Path) -> None:
    (installed / "dotted.py").write_text("class holder:\n    from fake_backend_module import backend\n")
    write_distribution(installed / "dotted-1.0.dist-info", " fake2=dotted:holder.backend [extra]\n# fake3 = none:none\n")
    points = driver._scan_entry_points()  # pyright: ignore[reportPrivateUsage]
    assert points["fake2"] == ("dotted", "holder.backend")
    assert not [name for name in points if "fake3" in name]
    assert driver.find_target("fake2-none") is None


def test_the_first_on_the_path_hides_others_of_its_name(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it hides their modules: an environment in an environment may hold another version."""
    behind = tmp_path / "behind"
    behind.mkdir()
    write_distribution(installed / "twice-2.0.dist-info", "fake4 = new:backend\n")
    write_distribution(behind / "Twice-1.0.dist-info", "fake4 = old:backend\nfake5 = old:backend\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(behind)])
    points = driver._scan_entry_points()  # pyright: ignore[reportPrivateUsage]
    assert points["fake4"] == ("new", "backend")
    assert "fake5" not in points


def test_an_archive_on_the_path_is_searched_too(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from zipfile import ZipFile

    archive = tmp_path / "packed.zip"
    with ZipFile(archive, "w") as file:
        file.writestr("packed_module.py", (installed / "fake_backend_module.py").read_text().replace('"fake', '"packed'))
        file.writestr("packed-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: packed\nVersion: 1.0\n")
        file.writestr("packed-1.0.dist-info/entry_points.txt", "[cajeta_dot.backends]\npacked = packed_module:backend\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(archive)])
    assert driver.find_target("packed-gpu")


def test_without_any_backend_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import cajeta_dot.backends as backends  # what follows hides its folder

    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert backends.GROUP
    with pytest.raises(RuntimeError, match="pip install -e"):
        driver.resolve_target("x86-vnni", Reporter(Source("k.cj", "")))
