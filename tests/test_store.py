"""Files are written whole, or not at all."""

from pathlib import Path

import pytest

from cache.store import cache_folder, write_whole


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "file"
    write_whole(target, b"old")
    write_whole(target, b"new")
    assert target.read_bytes() == b"new"
    assert list(target.parent.iterdir()) == [target]


def test_a_failed_write_leaves_the_old_file_and_no_rest(tmp_path: Path) -> None:
    target = tmp_path / "file"
    write_whole(target, b"old")
    with pytest.raises(TypeError):
        write_whole(target, "text")  # type: ignore[arg-type]
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_the_cache_can_be_put_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAOSTRUTH_CACHE", str(tmp_path))
    assert cache_folder("kernels") == tmp_path / "kernels"
    assert (tmp_path / "kernels").is_dir()
