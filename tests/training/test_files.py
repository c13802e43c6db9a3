import os

import pytest

from lmfast.errors import FileError
from lmfast.files import write_whole
from lmfast.training.files import locked


def test_writing_replaces_the_whole_file_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "file"
    for content in (b"long enough to be seen", b"short", b""):
        write_whole(path, content)
        assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileError, match="cannot write"):
        write_whole(tmp_path / "no" / "file", b"")


def test_a_lock_is_held_once_and_let_go(tmp_path):
    path = tmp_path / "lock"
    match = rf"another run is writing to it \(process {os.getpid()}\)"
    with locked(path), pytest.raises(FileError, match=match), locked(path):
        pytest.fail("held twice")
    with locked(path):
        pass


def test_a_place_for_no_lock(tmp_path):
    with pytest.raises(FileError, match="cannot write"), locked(tmp_path / "no" / "lock"):
        pytest.fail("held nothing")
