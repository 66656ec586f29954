"""Packets and shell frames: whole ones come back, broken ones are named, nothing piles up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phoneworld.adbd.codec import MAX_PAYLOAD, Command, Packet, PacketReader
from phoneworld.adbd.frames import MAX_FRAME, Frame, FrameReader
from phoneworld.errors import WireError

WORDS = st.integers(0, 0xFFFFFFFF)
PACKETS = st.builds(Packet, st.sampled_from(Command), WORDS, WORDS, st.binary(max_size=200))


def read(data: bytes, limit: int = MAX_PAYLOAD) -> list[Packet]:
    reader = PacketReader(limit)
    reader.feed(data)
    packets = []
    while (packet := reader.next_packet()) is not None:
        packets.append(packet)
    return packets


@given(st.lists(PACKETS, max_size=5), st.integers(1, 40))
def test_packets_come_back_however_the_stream_is_cut(packets: list[Packet], step: int) -> None:
    data = b"".join(p.encode() for p in packets)
    reader, found = PacketReader(MAX_PAYLOAD), []
    reader.verify = True
    for start in range(0, len(data), step):
        reader.feed(data[start : start + step])
        while (packet := reader.next_packet()) is not None:
            found.append(packet)
    assert found == packets
    assert reader.held == 0


def test_the_header_is_laid_out_as_adb_writes_it() -> None:
    data = Packet(Command.OPEN, 1, 0, b"shell:\0").encode()
    assert data[:4] == b"OPEN"
    assert data[4:16] == bytes([1, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0])
    assert int.from_bytes(data[16:20], "little") == sum(b"shell:\0")
    assert int.from_bytes(data[20:24], "little") == int.from_bytes(b"OPEN", "little") ^ 0xFFFFFFFF


@given(st.lists(PACKETS, max_size=3), st.binary(max_size=120))
def test_random_bytes_after_whole_packets_give_a_named_error_or_more_is_wanted(
    packets: list[Packet], noise: bytes
) -> None:
    reader = PacketReader(4096)
    reader.feed(b"".join(p.encode() for p in packets) + noise)
    found = []
    try:
        while (packet := reader.next_packet()) is not None:
            found.append(packet)
    except WireError:
        assert reader.held == 0
        with pytest.raises(WireError):
            reader.next_packet()
    assert found[: len(packets)] == packets
    assert reader.held <= 24 + 4096


def test_a_payload_above_the_limit_is_refused_before_it_is_read() -> None:
    with pytest.raises(WireError, match="limit is 4096"):
        read(Packet(Command.WRTE, 1, 1, bytes(5000)).encode()[:24], limit=4096)


def test_a_wrong_magic_an_unknown_command_and_a_wrong_sum_are_named() -> None:
    good = Packet(Command.WRTE, 1, 1, b"x").encode()
    with pytest.raises(WireError, match="magic"):
        read(good[:20] + bytes(4) + good[24:])
    with pytest.raises(WireError, match="unknown command"):
        read(b"GET / HTTP/1.1\r\nHos" + bytes(1) + bytes(b ^ 0xFF for b in b"GET "))
    reader = PacketReader(MAX_PAYLOAD)
    reader.verify = True
    reader.feed(good[:-1] + b"y")
    with pytest.raises(WireError, match="sums to"):
        reader.next_packet()


@given(st.lists(st.builds(Frame, st.integers(0, 255), st.binary(max_size=80)), max_size=6), st.integers(1, 30))
def test_shell_frames_come_back_however_the_stream_is_cut(frames: list[Frame], step: int) -> None:
    data = b"".join(f.encode() for f in frames)
    reader, found = FrameReader(), []
    for start in range(0, len(data), step):
        found += reader.feed(data[start : start + step])
    assert found == frames


def test_a_frame_above_the_limit_is_refused() -> None:
    with pytest.raises(WireError):
        FrameReader().feed(b"\0" + (MAX_FRAME + 1).to_bytes(4, "little"))
