"""The connection's state machine as transcripts: `>>` what the peer sends or the phone does, `<<` what comes of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phoneworld.adbd.codec import MAX_PAYLOAD, VERSION, VERSION_WITH_CHECK, Command, Packet, PacketReader
from phoneworld.adbd.connection import MAX_UNREAD, Closed, Connected, Connection, Drained, Event, Opened, Received
from phoneworld.errors import WireError

CNXN, OPEN, OKAY, WRTE, CLSE = Command.CNXN, Command.OPEN, Command.OKAY, Command.WRTE, Command.CLSE
HELLO = Packet(CNXN, VERSION, MAX_PAYLOAD, b"host::features=shell_v2")


class Talk:
    """A transcript with one connection."""

    def __init__(self, hello: Packet = HELLO) -> None:
        self.connection = Connection("device::features=cmd")
        self.heard(self.say(hello), [Connected(hello.payload.decode())])
        self.sent([Packet(CNXN, VERSION, MAX_PAYLOAD, b"device::features=cmd")])

    def say(self, *packets: Packet) -> list[Event]:
        return self.connection.receive(b"".join(p.encode() for p in packets))

    def heard(self, events: list[Event], expected: list[Event]) -> None:
        assert events == expected

    def sent(self, expected: list[Packet]) -> None:
        reader = PacketReader(MAX_PAYLOAD)
        reader.feed(self.connection.output())
        found = []
        while (packet := reader.next_packet()) is not None:
            found.append(packet)
        assert found == expected

    def opened(self, service: str = "shell:") -> int:
        """A stream that the peer calls 7; our own number for it."""
        (event,) = self.say(Packet(OPEN, 7, 0, service.encode() + b"\0"))
        assert isinstance(event, Opened) and event.service == service
        self.connection.accept(event.stream)
        self.sent([Packet(OKAY, event.stream, 7)])
        return event.stream


def test_a_whole_short_conversation() -> None:
    t = Talk()
    n = t.opened("shell:echo hi")
    t.connection.send(n, b"hi\n")
    t.sent([Packet(WRTE, n, 7, b"hi\n")])
    t.heard(t.say(Packet(OKAY, 7, n)), [Drained(n)])
    t.connection.close(n)
    t.sent([Packet(CLSE, n, 7)])
    t.heard(t.say(Packet(CLSE, 7, n)), [])  # the peer's own close of it: nothing is left to answer
    t.sent([])
    assert t.connection.streams == ()


def test_a_refused_service_is_closed_with_our_id_zero() -> None:
    t = Talk()
    (event,) = t.say(Packet(OPEN, 9, 0, b"localabstract:minicap\0"))
    assert isinstance(event, Opened)
    t.connection.refuse(event.stream)
    t.sent([Packet(CLSE, 0, 9)])
    assert t.connection.streams == ()


def test_only_one_packet_is_in_flight_on_a_stream() -> None:
    t = Talk(Packet(CNXN, VERSION, 4, b"host::"))
    n = t.opened()
    t.connection.send(n, b"abcdefghij")
    t.sent([Packet(WRTE, n, 7, b"abcd")])
    t.connection.send(n, b"kl")
    t.sent([])
    t.heard(t.say(Packet(OKAY, 7, n)), [])
    t.sent([Packet(WRTE, n, 7, b"efgh")])
    t.heard(t.say(Packet(OKAY, 7, n)), [])
    t.sent([Packet(WRTE, n, 7, b"ij")])
    t.heard(t.say(Packet(OKAY, 7, n)), [])
    t.sent([Packet(WRTE, n, 7, b"kl")])
    t.heard(t.say(Packet(OKAY, 7, n)), [Drained(n)])


def test_packets_are_no_larger_than_the_peer_takes() -> None:
    t = Talk(Packet(CNXN, VERSION, 3, b"host::"))
    n = t.opened()
    t.connection.send(n, b"abcde")
    t.sent([Packet(WRTE, n, 7, b"abc")])


def test_received_bytes_are_acknowledged_when_they_are_dealt_with() -> None:
    t = Talk()
    n = t.opened()
    t.heard(t.say(Packet(WRTE, 7, n, b"in")), [Received(n, b"in")])
    t.sent([])
    t.connection.acknowledge(n)
    t.connection.acknowledge(n)
    t.sent([Packet(OKAY, n, 7)])


def test_a_peer_that_does_not_wait_for_one_acknowledgement_is_heard_and_answered_for_each() -> None:
    """The adb server does so when it cannot write to the program behind a stream: it reads once more before it closes."""
    t = Talk()
    n = t.opened()
    t.heard(t.say(Packet(WRTE, 7, n, b"a"), Packet(WRTE, 7, n, b"b")), [Received(n, b"a"), Received(n, b"b")])
    for _ in range(3):
        t.connection.acknowledge(n)
    t.sent([Packet(OKAY, n, 7), Packet(OKAY, n, 7)])


def test_a_peer_that_never_waits_for_the_acknowledgement_breaks_the_connection() -> None:
    t = Talk()
    n = t.opened()
    with pytest.raises(WireError, match=f"{MAX_UNREAD + 1} WRTE"):
        t.say(*[Packet(WRTE, 7, n, b"a")] * (MAX_UNREAD + 1))


def test_the_peer_closes_a_stream_and_is_answered_once() -> None:
    t = Talk()
    n = t.opened()
    t.connection.send(n, b"x")
    t.connection.output()
    t.heard(t.say(Packet(CLSE, 7, n)), [Closed(n)])
    t.sent([Packet(CLSE, n, 7)])
    t.connection.send(n, b"y")
    t.connection.close(n)
    t.sent([])


def test_packets_of_unknown_streams_change_nothing() -> None:
    t = Talk()
    n = t.opened()
    t.heard(t.say(Packet(WRTE, 7, n + 5, b"?"), Packet(OKAY, 99, n), Packet(CLSE, 3, 77)), [])
    t.sent([])
    assert t.connection.streams == (n,)


def test_nothing_is_served_before_the_connection_is_made() -> None:
    connection = Connection("device::")
    with pytest.raises(WireError, match="before the connection"):
        connection.receive(Packet(OPEN, 1, 0, b"shell:\0").encode())


def test_a_second_introduction_closes_what_was_open() -> None:
    t = Talk()
    n = t.opened()
    t.heard(t.say(HELLO), [Closed(n), Connected(HELLO.payload.decode())])
    assert t.connection.streams == ()


def test_an_old_peer_gets_sums_and_has_its_own_checked() -> None:
    t = Talk(Packet(CNXN, VERSION_WITH_CHECK, 4096, b"host::"))
    (event,) = t.say(Packet(OPEN, 7, 0, b"shell:\0"))
    assert isinstance(event, Opened)
    t.connection.accept(event.stream)
    t.connection.output()
    t.connection.send(event.stream, b"ab")
    assert int.from_bytes(t.connection.output()[16:20], "little") == ord("a") + ord("b")
    with pytest.raises(WireError, match="sums to"):
        t.connection.receive(Packet(WRTE, 7, event.stream, b"zz").encode(check=False))


def test_a_new_peer_is_spared_the_sums() -> None:
    t = Talk()
    n = t.opened()
    t.connection.send(n, b"ab")
    assert t.connection.output()[16:20] == bytes(4)


def test_streams_above_the_limit_are_refused() -> None:
    connection = Connection("device::", max_streams=2)
    connection.receive(HELLO.encode())
    events = connection.receive(b"".join(Packet(OPEN, i, 0, b"sync:\0").encode() for i in range(1, 5)))
    assert len([e for e in events if isinstance(e, Opened)]) == 2
    assert connection.output().endswith(Packet(CLSE, 0, 3).encode(check=False) + Packet(CLSE, 0, 4).encode(check=False))


STEPS = st.one_of(
    st.builds(Packet, st.just(OPEN), st.integers(0, 4), st.just(0), st.sampled_from([b"shell:x\0", b"\0", b"\xff\0"])),
    st.builds(Packet, st.sampled_from([OKAY, WRTE, CLSE]), st.integers(0, 4), st.integers(0, 4), st.binary(max_size=9)),
    st.builds(
        Packet, st.sampled_from([CNXN, Command.AUTH, Command.SYNC]), st.just(VERSION), st.just(4096), st.just(b"host::")
    ),
)


@given(st.lists(STEPS, max_size=25), st.binary(max_size=60))
def test_any_sequence_gives_events_or_a_named_error_and_holds_little(steps: list[Packet], noise: bytes) -> None:
    connection = Connection("device::", max_streams=8)
    connection.receive(HELLO.encode())
    connection.output()
    try:
        for step in steps:
            for event in connection.receive(step.encode()):
                match event:
                    case Opened(stream, _) if stream in connection.streams:
                        connection.accept(stream)
                        connection.send(stream, b"reply")
                    case Received(stream, _):
                        connection.acknowledge(stream)
                    case _:
                        pass
            assert len(connection.streams) <= 8
            connection.output()
        connection.receive(noise)
    except WireError as e:
        assert e.message
