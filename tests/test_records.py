"""Records: JSON files with a digest inside."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillc import records

CONTENT = {"version": 2, "skills": [{"name": "pdf", "on": True, "places": ["/ä", "/b"]}], "more": {"x": 1}}


def flips(data: bytes) -> list[bytes]:
    """Return a file once for each of its bits, with that bit changed."""
    return [
        data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]
        for place in range(len(data))
        for bit in range(8)
    ]


def test_read_and_write(tmp_path: Path) -> None:
    """[D11] [D52] read as it was written, in any layout; or from before; a damaged one is kept."""
    path = tmp_path / "record.json"
    records.write_record(str(path), CONTENT)
    content = records.read_record(str(path), 1 << 20)
    assert content == records.seal(CONTENT)
    assert records.is_sealed(content)
    assert list(content) == ["version", "sha256", "skills", "more"]
    path.write_text(path.read_text().replace("\n", "\n\n"))
    assert records.read_record(str(path), 1 << 20) == content
    assert records.seal(content) == content
    path.write_text('{"version": 1, "skills": []}')
    assert records.read_record(str(path), 1 << 20, unsealed=1) == {"version": 1, "skills": []}
    path.write_text('{"version": 1, "skills": [], "sha256": "0"}')
    with pytest.raises(ValueError, match="not as it was written"):
        records.read_record(str(path), 1 << 20, unsealed=1)
    names = []
    for _ in range(3):
        names.append(records.damaged_name(str(path)))
        Path(names[-1]).touch()
    assert [Path(name).name for name in names] == [
        "record.json.damaged",
        "record.json.damaged-2",
        "record.json.damaged-3",
    ]


def test_every_bit_counts(tmp_path: Path) -> None:
    """[D11] whichever bit changes, the record is the same or damaged, never another one."""
    path = tmp_path / "record.json"
    records.write_record(str(path), CONTENT)
    sealed = records.seal(CONTENT)
    for data in flips(path.read_bytes()):
        path.write_bytes(data)
        try:
            assert records.read_record(str(path), 1 << 20, unsealed=1) == sealed
        except ValueError:
            pass


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "1", '{"version": 2}', "{}", '{"version": "1"}', "[" * 100_000]
)
def test_damage(tmp_path: Path, text: str) -> None:
    """[D11] what is no record of ours is damaged, whatever it is."""
    path = tmp_path / "record.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"Expecting|not as it was written"):
        records.read_record(str(path), 1 << 20, unsealed=1)
