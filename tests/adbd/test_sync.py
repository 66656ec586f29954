"""File transfer as transcripts, and under noise."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phoneworld.adbd.files import FileTree
from phoneworld.adbd.sync import MAX_CHUNK, SyncSession
from phoneworld.errors import WireError


def request(word: bytes, path: str) -> bytes:
    return word + struct.pack("<I", len(path.encode())) + path.encode()


def upload(path: str, content: bytes, *, mode: int = 0o100644, mtime: int = 77) -> bytes:
    out = request(b"SEND", f"{path},{mode}")
    for start in range(0, len(content), MAX_CHUNK):
        chunk = content[start : start + MAX_CHUNK]
        out += b"DATA" + struct.pack("<I", len(chunk)) + chunk
    return out + b"DONE" + struct.pack("<I", mtime)


def answer(session: SyncSession, data: bytes) -> bytes:
    return b"".join(session.feed(data))


@pytest.fixture
def tree() -> FileTree:
    tree = FileTree()
    tree.write("/sdcard/a.txt", b"hello", mtime=9, mode=0o644)
    return tree


def test_stat_of_a_file_a_folder_and_nothing(tree: FileTree) -> None:
    session = SyncSession(tree)
    assert answer(session, request(b"STAT", "/sdcard/a.txt")) == struct.pack("<4sIII", b"STAT", 0o100644, 5, 9)
    assert answer(session, request(b"STAT", "/sdcard"))[4:8] == struct.pack("<I", 0o40771)
    assert answer(session, request(b"STAT", "/none")) == b"STAT" + bytes(12)
    second = answer(session, request(b"STA2", "/sdcard/a.txt"))
    assert (
        len(second) == 72
        and struct.unpack_from("<I", second, 4) == (0,)
        and struct.unpack_from("<Q", second, 40) == (5,)
    )
    assert struct.unpack_from("<4sI", answer(session, request(b"LST2", "/none"))) == (b"LST2", 2)


def test_a_listing_holds_the_folder_itself_the_one_above_and_what_is_in_it(tree: FileTree) -> None:
    listed = answer(SyncSession(tree), request(b"LIST", "/sdcard"))
    assert listed.startswith(b"DENT") and listed.endswith(b"DONE" + bytes(16)) and b"a.txtDENT" not in listed[:40]
    assert listed.count(b"DENT") == 2 + 8 + 1 and b"a.txt" in listed
    assert answer(SyncSession(tree), request(b"LIST", "/none")) == b"DONE" + bytes(16)
    assert answer(SyncSession(tree), request(b"LIS2", "/sdcard")).endswith(b"DONE" + bytes(72))


@given(st.binary(max_size=200_000), st.integers(1, 70_000))
def test_what_is_sent_is_received_however_the_stream_is_cut(content: bytes, step: int) -> None:
    tree = FileTree()
    data, session, told = upload("/sdcard/new/b.bin", content), SyncSession(tree), b""
    for start in range(0, len(data), step):
        told += answer(session, data[start : start + step])
    assert told == b"OKAY" + bytes(4)
    assert tree.stat("/sdcard/new/b.bin").mtime == 77
    back, at, found = answer(session, request(b"RECV", "/sdcard/new/b.bin")), 0, b""
    while back[at : at + 4] == b"DATA":
        (size,) = struct.unpack_from("<I", back, at + 4)
        assert size <= MAX_CHUNK
        found += back[at + 8 : at + 8 + size]
        at += 8 + size
    assert back[at:] == b"DONE" + bytes(4) and found == content


def test_the_second_version_carries_mode_and_flags_apart(tree: FileTree) -> None:
    session = SyncSession(tree)
    sent = (
        request(b"SND2", "/sdcard/c")
        + struct.pack("<4sII", b"SND2", 0o100600, 0)
        + b"DATA\x01\0\0\0x"
        + b"DONE\x05\0\0\0"
    )
    assert answer(session, sent) == b"OKAY" + bytes(4)
    assert answer(
        session, request(b"RCV2", "/sdcard/c") + struct.pack("<4sI", b"RCV2", 0)
    ) == b"DATA\x01\0\0\0x" + b"DONE" + bytes(4)
    assert answer(session, request(b"RCV2", "/sdcard/c") + struct.pack("<4sI", b"RCV2", 1)).startswith(b"FAIL")


def test_a_refused_upload_is_told_at_its_end_and_the_stream_goes_on(tree: FileTree) -> None:
    session = SyncSession(tree)
    told = answer(session, upload("/system/app/evil.apk", b"x" * 100))
    assert told.startswith(b"FAIL") and b"Read-only file system" in told
    assert answer(session, upload("/sdcard/link", b"/etc", mode=0o120777)).startswith(b"FAIL")
    assert answer(session, request(b"STAT", "/sdcard/a.txt")).startswith(b"STAT")


def test_what_cannot_be_read_is_a_failure_in_words(tree: FileTree) -> None:
    assert (
        answer(SyncSession(tree), request(b"RECV", "/sdcard/none"))
        == b"FAIL" + struct.pack("<I", 38) + b"open failed: No such file or directory"
    )


def test_quit_ends_the_session(tree: FileTree) -> None:
    session = SyncSession(tree)
    assert answer(session, b"QUIT" + bytes(4) + b"rest") == b"" and session.finished


@pytest.mark.parametrize(
    "noise",
    [
        b"WHAT" + bytes(4),
        b"STAT\xff\xff\0\0",
        upload("/sdcard/x", b"a")[:-8] + b"LIST\0\0\0\0",
        request(b"SEND", "/sdcard/x,33188") + b"DATA\xff\xff\xff\0",
    ],
)
def test_a_stream_that_lost_its_place_is_named(noise: bytes) -> None:
    with pytest.raises(WireError):
        answer(SyncSession(FileTree()), noise)


@given(
    st.lists(
        st.sampled_from(
            [
                request(b"STAT", "/sdcard"),
                upload("/sdcard/z", b"zz"),
                request(b"RECV", "/sdcard/z"),
                request(b"LIST", "/"),
            ]
        ),
        max_size=4,
    ),
    st.binary(max_size=100),
)
def test_noise_after_whole_requests_gives_a_named_error_or_more_is_wanted(requests: list[bytes], noise: bytes) -> None:
    session = SyncSession(FileTree())
    try:
        answer(session, b"".join(requests) + noise)
    except WireError as e:
        assert e.message
