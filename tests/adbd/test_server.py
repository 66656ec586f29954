"""The listening phone, talked to over a bare socket: no adb program is needed here."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from phoneworld.adbd.codec import MAX_PAYLOAD, VERSION, VERSION_WITH_CHECK, Command, Packet, PacketReader
from phoneworld.adbd.frames import Frame, FrameReader, Kind
from phoneworld.adbd.server import AdbPhone, serve_phone
from phoneworld.device.device import Device
from phoneworld.errors import DeviceNotFound, ServeError
from phoneworld.ui.action import Tap
from tests.adbd.pocket import PocketPhone


class Peer:
    """The host's end of one connection."""

    def __init__(self, port: int, *, version: int = VERSION) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.reader = PacketReader(MAX_PAYLOAD)
        self.say(Packet(Command.CNXN, version, MAX_PAYLOAD, b"host::features=shell_v2"))
        hello = self.hear()
        assert hello.command is Command.CNXN
        self.banner = hello.payload.decode()

    def say(self, *packets: Packet) -> None:
        self.socket.sendall(b"".join(p.encode() for p in packets))

    def hear(self) -> Packet:
        while (packet := self.reader.next_packet()) is None:
            chunk = self.socket.recv(65536)
            if not chunk:
                raise EOFError
            self.reader.feed(chunk)
        return packet

    def open(self, service: str, number: int = 1) -> int:
        """Opens a stream; the phone's number of it."""
        self.say(Packet(Command.OPEN, number, 0, service.encode() + b"\0"))
        answer = self.hear()
        assert answer.command is Command.OKAY, answer
        return answer.arg0

    def run(self, service: str, number: int = 1) -> bytes:
        """Everything that a service says until it ends."""
        theirs, out = self.open(service, number), b""
        while (packet := self.hear()).command is not Command.CLSE:
            if packet.command is Command.WRTE:
                out += packet.payload
                self.say(Packet(Command.OKAY, number, theirs))
        self.say(Packet(Command.CLSE, number, theirs))
        return out

    def close(self) -> None:
        self.socket.close()


@pytest.fixture
def device() -> PocketPhone:
    return PocketPhone()


@pytest.fixture
def served(device: PocketPhone) -> Iterator[AdbPhone]:
    with AdbPhone(device, port=0) as phone:
        yield phone


@pytest.fixture
def peer(served: AdbPhone) -> Iterator[Peer]:
    peer = Peer(served.port)
    yield peer
    peer.close()


def test_the_phone_introduces_itself_without_asking_for_a_key(peer: Peer) -> None:
    head, _, features = peer.banner.partition("features=")
    assert head == "device::ro.product.name=pocket_one;ro.product.model=Pocket One;ro.product.device=pocket_one;"
    words = features.split(",")
    assert {"shell_v2", "cmd", "stat_v2"} <= set(words)
    assert not {"delayed_ack", "abb", "abb_exec", "apex"} & set(words) and not features.endswith(("\0", " "))


def test_the_three_ways_to_run_a_line(peer: Peer) -> None:
    assert peer.run("shell:echo hi; nosuch") == b"hi\n/system/bin/sh: nosuch: inaccessible or not found\n"
    assert peer.run("exec:echo 'hi'") == b"hi\n"
    frames = FrameReader().feed(peer.run("shell,v2,TERM=xterm,raw:echo hi; nosuch; exit 3"))
    assert frames == [
        Frame(Kind.STDOUT, b"hi\n"), Frame(Kind.STDERR, b"/system/bin/sh: nosuch: inaccessible or not found\n"), Frame(Kind.EXIT, b"\x03"),
    ]  # fmt: skip


def test_a_service_that_is_not_served_is_refused_and_kept_in_the_list(peer: Peer, served: AdbPhone) -> None:
    peer.say(Packet(Command.OPEN, 1, 0, b"localabstract:minicap\0"))
    assert peer.hear() == Packet(Command.CLSE, 0, 1)
    assert list(served.phone.refusals) == ["service localabstract:minicap"]
    assert peer.run("shell:echo still", 2) == b"still\n"


def test_streams_of_one_connection_run_side_by_side(peer: Peer) -> None:
    slow = peer.open("shell:sleep 30", 1)
    assert peer.run("shell:echo quick", 2) == b"quick\n"
    peer.say(Packet(Command.CLSE, 1, slow))
    assert peer.hear() == Packet(Command.CLSE, slow, 1)


def test_stdin_comes_in_frames_and_can_be_closed(peer: Peer) -> None:
    theirs = peer.open("shell,v2,raw:md5sum")
    peer.say(Packet(Command.WRTE, 1, theirs, Frame(Kind.STDIN, b"ab").encode()))
    assert peer.hear() == Packet(Command.OKAY, theirs, 1)
    peer.say(Packet(Command.WRTE, 1, theirs, Frame(Kind.STDIN, b"c").encode() + Frame(Kind.CLOSE_STDIN).encode()))
    out = b""
    while (packet := peer.hear()).command is not Command.CLSE:
        if packet.command is Command.WRTE:
            out += packet.payload
            peer.say(Packet(Command.OKAY, 1, theirs))
    assert FrameReader().feed(out)[0].payload == b"900150983cd24fb0d6963f7d28e17f72  -\n"


def test_a_terminal_echoes_edits_and_ends(peer: Peer) -> None:
    theirs = peer.open("shell,v2,TERM=xterm,pty:")
    typed = b"echx\x7fo hi\rnosuch\x03exit 5\r"
    peer.say(Packet(Command.WRTE, 1, theirs, Frame(Kind.STDIN, typed).encode()))
    out = b""
    while (packet := peer.hear()).command is not Command.CLSE:
        if packet.command is Command.WRTE:
            out += packet.payload
            peer.say(Packet(Command.OKAY, 1, theirs))
    frames = FrameReader().feed(out)
    shown = b"".join(f.payload for f in frames if f.kind == Kind.STDOUT)
    assert b"echx\b \bo hi\r\nhi\r\n" in shown and b"nosuch^C\r\n" in shown
    assert frames[-1] == Frame(Kind.EXIT, b"\x05")


def test_an_old_client_with_sums_is_served(served: AdbPhone) -> None:
    peer = Peer(served.port, version=VERSION_WITH_CHECK)
    peer.reader.verify = True
    assert peer.run("shell:echo summed") == b"summed\n"
    peer.close()


@pytest.mark.parametrize(
    "noise", [b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", bytes(24), Packet(Command.OPEN, 1, 0, b"shell:\0").encode()]
)
def test_noise_ends_its_own_connection_only(served: AdbPhone, peer: Peer, noise: bytes) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as stranger:
        stranger.sendall(noise)
        with contextlib.suppress(ConnectionResetError):
            assert stranger.recv(100) == b""
    assert peer.run("shell:echo alive") == b"alive\n"


def test_the_device_is_made_used_and_closed_on_one_thread() -> None:
    threads: set[int] = set()

    class Watched(PocketPhone):
        def perform(self, action: object) -> None:
            threads.add(threading.get_ident())

        def close(self) -> None:
            threads.add(threading.get_ident())
            super().close()

    made: list[PocketPhone] = []

    def make() -> Device:
        threads.add(threading.get_ident())
        made.append(Watched())
        return made[0]

    served = serve_phone(make, 0)
    peers = [Peer(served.port) for _ in range(3)]
    for peer in peers:
        assert peer.run("shell:input tap 1 1") == b""
        peer.close()
    served.close()
    served.close()
    assert made[0].closed
    assert len(threads) == 1 and threads.isdisjoint({threading.get_ident()})


def test_a_device_given_ready_is_left_open(device: PocketPhone) -> None:
    with AdbPhone(device, port=0):
        pass
    assert not device.closed


def test_a_taken_port_is_named_and_no_phone_is_made(served: AdbPhone) -> None:
    def make() -> Device:
        raise AssertionError("the port comes first")

    with pytest.raises(ServeError, match=f"port {served.port} .* in use"):
        AdbPhone(make, port=served.port).start()


def test_a_phone_that_cannot_be_made_frees_the_port() -> None:
    def make() -> Device:
        raise DeviceNotFound("no such bundle")

    phone = AdbPhone(make, port=0)
    with pytest.raises(DeviceNotFound):
        phone.start()
    phone.close()


def test_closing_ends_the_connections_and_frees_the_port(device: PocketPhone) -> None:
    served = serve_phone(device, 0)
    peer = Peer(served.port)
    peer.open("shell:sleep 60")
    served.close()
    with pytest.raises((EOFError, ConnectionError)):
        peer.hear()
    with AdbPhone(device, port=served.port) as again:
        assert Peer(again.port).run("shell:echo back") == b"back\n"


def test_many_clients_at_once_each_get_their_own_answers(served: AdbPhone, device: PocketPhone) -> None:
    wrong: list[object] = []

    def client(n: int) -> None:
        peer = Peer(served.port)
        for i in range(10):
            if (out := peer.run(f"shell:input tap {n} {i} && echo {n}.{i}")) != f"{n}.{i}\n".encode():
                wrong.append(out)
        peer.close()

    threads = [threading.Thread(target=client, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert sorted((a.x, a.y) for a in device.events if isinstance(a, Tap)) == sorted(
        (n, i) for n in range(8) for i in range(10)
    )
