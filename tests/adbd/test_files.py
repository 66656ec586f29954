"""The phone's own file tree: it behaves like one, and never is the host's."""

from __future__ import annotations

import errno
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phoneworld.adbd import files as files_module
from phoneworld.adbd.files import SHARED_STORAGE, FileTree, resolve

PATH_PARTS = st.lists(
    st.sampled_from(["..", ".", "", "sdcard", "a", "storage", "emulated", "0", "etc", "passwd"]), max_size=12
)


@pytest.fixture
def tree() -> FileTree:
    return FileTree()


@given(PATH_PARTS, PATH_PARTS)
def test_no_path_leaves_the_root(parts: list[str], cwd: list[str]) -> None:
    name = resolve("/".join(parts), "/" + "/".join(cwd))
    assert name.startswith("/") and ".." not in name.split("/")
    assert resolve(name) == name


@pytest.mark.parametrize(
    "path", ["/sdcard/x", "/storage/self/primary/x", "/mnt/sdcard/x", "/sdcard/../sdcard/./x", "/storage/emulated/0/x"]
)
def test_the_shared_storage_has_one_place_under_its_names(path: str) -> None:
    assert resolve(path) == SHARED_STORAGE + "/x"


def test_a_file_of_the_host_cannot_be_read(tree: FileTree, tmp_path: os.PathLike[str]) -> None:
    secret = os.path.join(tmp_path, "secret")
    with open(secret, "w") as f:
        f.write("x")
    for path in (secret, "/sdcard/../../../../../.." + secret, "/proc/self/environ", "/etc/passwd"):
        with pytest.raises(FileNotFoundError):
            tree.read(path)


def test_what_is_written_is_read_listed_and_removed(tree: FileTree) -> None:
    tree.write("/sdcard/Download/a.txt", b"hello", mtime=5, mode=0o644)
    assert tree.read("/storage/emulated/0/Download/a.txt") == b"hello"
    ((name, entry),) = tree.listing("/sdcard/Download")
    assert (name, entry.size, entry.mtime, oct(entry.mode)) == ("a.txt", 5, 5, "0o100644")
    tree.remove("/sdcard/Download/a.txt")
    assert not tree.exists("/sdcard/Download/a.txt") and tree.listing("/sdcard/Download") == []


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/system/bin/x", errno.EROFS),
        ("/x", errno.EACCES),
        ("/data/data/y", errno.EACCES),
        ("/sdcard/no/x", errno.ENOENT),
        ("/sdcard", errno.EISDIR),
    ],
)
def test_writing_where_the_shell_may_not_is_refused(tree: FileTree, path: str, code: int) -> None:
    with pytest.raises(OSError) as e:
        tree.write(path, b"x")
    assert e.value.errno == code


def test_a_file_as_a_folder_is_refused(tree: FileTree) -> None:
    tree.write("/sdcard/f", b"")
    with pytest.raises(NotADirectoryError):
        tree.write("/sdcard/f/g", b"")
    with pytest.raises(NotADirectoryError):
        tree.make_folder("/sdcard/f/g", parents=True)
    with pytest.raises(NotADirectoryError):
        tree.listing("/sdcard/f")


def test_the_tree_has_a_size_limit(tree: FileTree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_module, "MAX_TREE_BYTES", 100)
    tree.write("/sdcard/a", bytes(60))
    tree.write("/sdcard/a", bytes(90))  # in place of the first
    with pytest.raises(OSError) as e:
        tree.write("/sdcard/b", bytes(20))
    assert e.value.errno == errno.ENOSPC


def test_move_and_copy(tree: FileTree) -> None:
    tree.make_folder("/sdcard/d")
    tree.write("/sdcard/d/a", b"1")
    tree.move("/sdcard/d", "/sdcard/e")
    assert not tree.exists("/sdcard/d") and tree.read("/sdcard/e/a") == b"1"
    tree.move("/sdcard/e/a", "/sdcard/Download", keep=True)
    assert tree.read("/sdcard/Download/a") == tree.read("/sdcard/e/a")
    with pytest.raises(OSError, match="Invalid"):
        tree.move("/sdcard/e", "/sdcard/e/in")


def test_a_snapshot_of_the_tree_is_an_assignment(tree: FileTree) -> None:
    before = tree.entries
    tree.write("/sdcard/a", b"1")
    tree.entries = before
    assert not tree.exists("/sdcard/a")


def test_patterns_match_names_of_the_tree(tree: FileTree) -> None:
    for name in ("a.png", "b.png", "c.txt", ".hidden.png"):
        tree.write(f"/sdcard/{name}", b"")
    assert sorted(tree.glob("/sdcard/*.png")) == ["/sdcard/a.png", "/sdcard/b.png"]
    assert sorted(tree.glob("?.txt", SHARED_STORAGE)) == ["c.txt"]
    assert sorted(tree.glob("/sd*/a.png")) == []
    assert list(tree.glob("/sdcard/[*].png")) == []
