"""Dumps in, dumps out: against an independent reading of every recorded dump, and against damage of all kinds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree  # type: ignore[import-untyped]

from phoneworld.errors import DumpError, DumpFailed, EmptyDump, NotADump, PhoneWorldError, TruncatedDump
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node
from phoneworld.ui.xml import MAX_BYTES, MAX_DEPTH, parse_hierarchy, parse_hierarchy_with_warnings, write_hierarchy
from tests.shared import CORPUS, needs_shared
from tests.ui.strategies import hierarchies

DUMPS = sorted(CORPUS.rglob("*.xml"))
REFUSED: dict[str, tuple[type[DumpError], str]] = {
    "ui/odd-output/zero-byte-dump.xml": (EmptyDump, "the file has no bytes"),
    "ui/sinet.startup.indriver/wilderblas_xmltemp_560ac3.xml": (NotADump, "two <node> elements cut out of a dump, no <hierarchy>"),
}


def _name(path: Path) -> str:
    return path.relative_to(CORPUS).as_posix()


def _independent_nodes(dump: bytes) -> list[etree._Element]:
    """The elements below the root by lxml alone: no code of ours has a part in it."""
    text = dump.decode("utf-16" if dump[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    end = "</hierarchy>"
    document = text[text.index("<hierarchy") : text.rindex(end) + len(end)]
    root = etree.fromstring(document.encode(), etree.XMLParser(resolve_entities=False, no_network=True))
    return list(root.iterdescendants("*"))


@needs_shared
@pytest.mark.parametrize("path", DUMPS, ids=_name)
def test_a_recorded_dump_reads_as_lxml_reads_it_or_is_refused_for_its_reason(path: Path) -> None:
    dump = path.read_bytes()
    if _name(path) in REFUSED:
        with pytest.raises(REFUSED[_name(path)][0]):
            parse_hierarchy(dump)
        return
    ours, theirs = list(parse_hierarchy(dump).nodes()), _independent_nodes(dump)
    assert len(ours) == len(theirs)
    assert [node.text for node in ours] == [element.get("text", "") for element in theirs]
    assert [node.class_name for node in ours] == [element.get("class", element.tag) for element in theirs]
    assert [node.resource_id for node in ours] == [element.get("resource-id", "") for element in theirs]
    assert [node.content_desc for node in ours] == [element.get("content-desc", "") for element in theirs]
    assert [str(node.bounds) for node in ours] == [element.get("bounds") for element in theirs]
    assert [node.clickable for node in ours] == [element.get("clickable") == "true" for element in theirs]
    assert [len(node.children) for node in ours] == [len(element) for element in theirs]


@needs_shared
@pytest.mark.parametrize("path", [p for p in DUMPS if _name(p) not in REFUSED], ids=_name)
def test_a_recorded_dump_is_stable_under_writing_and_reading(path: Path) -> None:
    tree = parse_hierarchy(path.read_bytes())
    written = write_hierarchy(tree)
    assert parse_hierarchy(written) == tree
    assert write_hierarchy(parse_hierarchy(written)) == written


@needs_shared
def test_every_refused_dump_is_in_the_corpus() -> None:
    assert set(REFUSED) <= {_name(path) for path in DUMPS}


@given(hierarchies)
def test_any_tree_comes_back_from_its_xml(tree: Hierarchy) -> None:
    written = write_hierarchy(tree)
    assert parse_hierarchy_with_warnings(written)[0] == tree
    assert write_hierarchy(parse_hierarchy(written)) == written


@given(hierarchies)
def test_what_is_written_is_well_formed_for_another_parser(tree: Hierarchy) -> None:
    elements = _independent_nodes(write_hierarchy(tree))
    assert [element.get("text") for element in elements] == [node.text for node in tree.nodes()]


# --- trust: never half a tree ----------------------------------------------------------------------------------------

LEAF = '<node index="0" text="{}" class="android.widget.TextView" bounds="[0,10][20,30]" />'
TREE = f'<hierarchy rotation="0"><node class="android.widget.FrameLayout" bounds="[0,0][20,40]">{LEAF.format("é")}</node></hierarchy>'
DUMP = f"<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>{TREE}".encode()


def dump_of(text: str) -> bytes:
    """A dump with one node of this text, put there as it is."""
    return f'<hierarchy rotation="0">{LEAF.format(text)}</hierarchy>'.encode("utf-8", "surrogatepass")


def only_text(dump: bytes) -> str:
    (node,) = parse_hierarchy(dump).nodes()
    return node.text


@pytest.mark.parametrize("length", range(len(DUMP)))
def test_a_dump_cut_anywhere_is_refused_as_cut(length: int) -> None:
    with pytest.raises(TruncatedDump if length else EmptyDump):
        parse_hierarchy(DUMP[:length])


@given(st.integers(0, len(DUMP)), st.binary(max_size=80))
@example(len(DUMP), b"\xff\xfe\x00")
@example(20, b"\x00" * 80)
@example(0, b"<hierarchy")
@example(len(DUMP) - 12, b"<node/></hierarchy>")
def test_a_valid_prefix_and_random_bytes_give_a_tree_or_a_dump_error(length: int, tail: bytes) -> None:
    try:
        tree = parse_hierarchy(DUMP[:length] + tail)
    except DumpError as e:
        assert e.message
        assert e.hint
    else:
        assert isinstance(tree, Hierarchy)
        assert length == len(DUMP) or b">" in tail


@given(st.binary(max_size=200))
def test_random_bytes_never_give_a_traceback(data: bytes) -> None:
    with pytest.raises(DumpError):
        parse_hierarchy(data)


@given(st.text("<>/ hierachynodspl=\"'&#;x1!-[]", max_size=60))
def test_random_markup_never_gives_a_traceback(markup: str) -> None:
    for data in (markup.encode(), f"<hierarchy>{markup}</hierarchy>".encode()):
        try:
            parse_hierarchy(data)
        except DumpError as e:
            assert e.message


@pytest.mark.parametrize("data", [b"", b" \r\n", b"\0\0\0\0", b"\xef\xbb\xbf", b"UI hierchary dumped to: /dev/tty\n", b'<hierarchy rotation="0" />', b"<hierarchy></hierarchy>"])
def test_nothing_at_all_is_an_empty_dump(data: bytes) -> None:
    with pytest.raises(EmptyDump):
        parse_hierarchy(data)


@pytest.mark.parametrize(
    "line",
    [
        "ERROR: could not get idle state.",
        "ERROR: null root node returned by UiTestAutomationBridge.",
        "/system/bin/sh: uiautomator: inaccessible or not found",
        "java.lang.IllegalStateException: UiAutomation not connected!",
        "Killed",
    ],
)
def test_the_error_of_the_dumper_is_quoted(line: str) -> None:
    with pytest.raises(DumpFailed) as caught:
        parse_hierarchy(f"some words before\n{line}\n".encode())
    assert caught.value.line == line
    assert line in caught.value.message


def test_a_stale_file_printed_after_a_failed_dump_is_refused() -> None:
    with pytest.raises(DumpFailed, match="idle"):
        parse_hierarchy(b"ERROR: could not get idle state.\n" + DUMP)


@pytest.mark.parametrize(
    "data", [b'{"a": 1}', b"<html><body/></html>", b"<?xml version='1.0'?><node text='a'/>", b"\x89PNG\r\n\x1a\n", b"plain words"]
)
def test_what_has_no_hierarchy_is_not_a_dump(data: bytes) -> None:
    with pytest.raises(NotADump):
        parse_hierarchy(data)


@pytest.mark.parametrize("data", [DUMP + DUMP, TREE.encode() * 2, b"<node/></hierarchy>" + DUMP, f"<hierarchy>{TREE}</hierarchy>".encode()])
def test_pieces_of_two_dumps_are_refused(data: bytes) -> None:
    with pytest.raises(DumpError, match=r"pieces of two|inside another"):
        parse_hierarchy(data)


def test_nodes_left_open_are_refused_as_cut() -> None:
    with pytest.raises(TruncatedDump, match="tag mismatch"):
        parse_hierarchy(b"<hierarchy><node><node/></hierarchy>")


@pytest.mark.parametrize("bounds", ["[0,0][10", "0,0,10,10", "[a,0][1,1]", "[0,0][1,99999999999999999999]"])
def test_bounds_that_are_no_rectangle_are_refused(bounds: str) -> None:
    with pytest.raises(DumpError, match="bounds"):
        parse_hierarchy(f'<hierarchy><node bounds="{bounds}" /></hierarchy>'.encode())


# --- safety ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtd",
    [
        '<!DOCTYPE h [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE h [<!ENTITY b SYSTEM "file:///etc/hostname">]>',
        '<!DOCTYPE h SYSTEM "http://192.0.2.1/h.dtd">',
    ],
)
def test_a_dump_with_a_dtd_is_refused_by_name(dtd: str) -> None:
    with pytest.raises(DumpError, match="DTD"):
        parse_hierarchy(b"<?xml version='1.0'?>" + dtd.encode() + dump_of("&b;"))


def test_an_entity_of_no_meaning_is_refused() -> None:
    with pytest.raises(DumpError, match="nbsp"):
        parse_hierarchy(dump_of("&nbsp;"))


@pytest.mark.parametrize("depth", [MAX_DEPTH, 5000, 200_000])
def test_a_tree_deeper_than_any_phone_draws_is_refused_by_name(depth: int) -> None:
    with pytest.raises(DumpError, match="deeper than"):
        parse_hierarchy(b"<hierarchy>" + b"<node>" * depth + b"</node>" * depth + b"</hierarchy>")


def test_a_tree_of_the_greatest_depth_reads_and_writes() -> None:
    depth = MAX_DEPTH - 1
    tree = parse_hierarchy(b"<hierarchy>" + b"<node>" * depth + b"</node>" * depth + b"</hierarchy>")
    assert len(list(tree.nodes())) == depth
    assert parse_hierarchy(write_hierarchy(tree)) == tree


def test_a_tree_of_any_depth_is_written_without_recursion() -> None:
    node = Node("a")
    for _ in range(5000):
        node = Node("a", children=(node,))
    assert write_hierarchy(Hierarchy((node,))).count(b"<node") == 5001


def test_more_bytes_than_a_dump_can_have_are_refused() -> None:
    with pytest.raises(DumpError, match="at most"):
        parse_hierarchy(DUMP.ljust(MAX_BYTES + 1))


# --- characters ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("banner", ["", "UI hierchary dumped to: /dev/tty\r\n"])
def test_every_encoding_with_the_banner_on_either_side_is_the_same_tree(encoding: str, banner: str) -> None:
    expected = parse_hierarchy(DUMP)
    for text in (banner + DUMP.decode(), DUMP.decode() + banner):
        assert parse_hierarchy(text.encode(encoding)) == expected


def test_a_declared_encoding_is_used_where_there_is_no_other_sign() -> None:
    assert only_text(b"<?xml version='1.0' encoding='GBK'?>" + dump_of("").replace(b'text=""', 'text="中"'.encode("gbk"))) == "中"


@pytest.mark.parametrize(
    ("written", "read", "warned"),
    [
        ("&#55357;&#56832;", "😀", False),
        ("&#xD83D;&#xde00;", "😀", False),
        ("\ud83d&#56832;", "😀", False),
        ("\ud83d\ude00", "😀", False),
        ("&#55357;", "\ufffd", True),
        ("&#56832;&#55357;", "\ufffd\ufffd", True),
        ("\ud83d", "\ufffd", True),
        ("&#0;&#x1f;\x01", "\ufffd\ufffd\ufffd", True),
        ("&#1114112;&#99999999999999999999;", "\ufffd\ufffd", True),
        ("&#128512;😀", "😀😀", False),
        ("&#10;&#9;&#13;", "\n\t\r", False),
        ("&amp;#55357;", "&#55357;", False),
        ("&lt;&gt;&amp;&quot;&apos;&#38;", "<>&\"'&", False),
    ],
)
def test_references_and_surrogate_halves(written: str, read: str, warned: bool) -> None:
    tree, warnings = parse_hierarchy_with_warnings(dump_of(written))
    assert [node.text for node in tree.nodes()] == [read]
    assert bool(warnings) == warned


def test_bytes_that_are_no_utf8_become_the_replacement_character_with_a_warning() -> None:
    tree, warnings = parse_hierarchy_with_warnings(dump_of("?").replace(b'"?"', b'"a\xff\xfeb"'))
    assert [node.text for node in tree.nodes()] == ["a\ufffdb"]
    assert warnings


def test_what_xml_cannot_hold_is_written_as_the_replacement_character() -> None:
    assert only_text(write_hierarchy(Hierarchy((Node("a", text="\x00\ud800\uffff\n"),)))) == "\ufffd\ufffd\ufffd\n"


def test_newlines_and_tabs_are_written_as_references() -> None:
    assert b'text="a&#10;b&#9;c&#13;"' in write_hierarchy(Hierarchy((Node("a", text="a\nb\tc\r"),)))


# --- attributes and windows ------------------------------------------------------------------------------------------


def test_attributes_without_a_meaning_are_kept_in_order() -> None:
    dump = b'<hierarchy rotation="1" width="10" a="b"><node NAF="true" index="3" z="1" class="A" b="2" display-id="0" /></hierarchy>'
    tree = parse_hierarchy(dump)
    assert tree.rotation == 1
    assert tree.attributes == (("width", "10"), ("a", "b"))
    assert tree.windows[0].extra == (("NAF", "true"), ("z", "1"), ("b", "2"), ("display-id", "0"))
    assert tree.windows[0].index == 3
    assert write_hierarchy(tree).split(b"><")[2].startswith(b'node NAF="true" index="3" text=""')


def test_a_repeated_attribute_is_written_once_and_the_field_wins() -> None:
    node = Node("a", text="field", extra=(("text", "extra"), ("x", "1"), ("x", "2")))
    (read,) = parse_hierarchy(write_hierarchy(Hierarchy((node,)))).nodes()
    assert (read.text, read.extra) == ("field", (("x", "1"),))


@pytest.mark.parametrize("name", ["", "a b", "a=b", '"', "1a", "a:b", "<"])
def test_a_name_that_no_attribute_can_have_is_not_written(name: str) -> None:
    with pytest.raises(PhoneWorldError, match="attribute"):
        write_hierarchy(Hierarchy((Node("a", extra=((name, "1"),)),)))


def test_missing_attributes_mean_what_android_means() -> None:
    (node,) = parse_hierarchy(b"<hierarchy><node /></hierarchy>").nodes()
    assert node == Node("", enabled=True, visible=True, bounds=Bounds(0, 0, 0, 0))


def test_appium_page_source_has_classes_as_tags() -> None:
    source = b"""<?xml version="1.0" encoding="UTF-8"?>
    <hierarchy index="0" class="hierarchy" rotation="3" width="1080" height="2254">
      <android.widget.FrameLayout index="0" class="android.widget.FrameLayout" displayed="true" bounds="[0,0][1080,2254]">
        <android.widget.Inner text="a" displayed="false" />
        <a.Outer_Inner class="a.Outer$Inner" />
      </android.widget.FrameLayout>
    </hierarchy>"""
    tree, warnings = parse_hierarchy_with_warnings(source)
    assert [node.class_name for node in tree.nodes()] == ["android.widget.FrameLayout", "android.widget.Inner", "a.Outer$Inner"]
    assert [node.visible for node in tree.nodes()] == [True, False, True]
    assert tree.rotation == 3
    assert ("height", "2254") in tree.attributes
    assert warnings == ()


@pytest.mark.parametrize("name", ["visible-to-user", "displayed", "visible"])
def test_every_word_for_visible_is_understood(name: str) -> None:
    (node,) = parse_hierarchy(f'<hierarchy><node {name}="false" /></hierarchy>'.encode()).nodes()
    assert not node.visible


def test_a_truth_value_that_is_none_is_taken_as_left_out_and_warned_of() -> None:
    tree, warnings = parse_hierarchy_with_warnings(b'<hierarchy><node clickable="TRUE" checked="maybe" enabled="maybe" /></hierarchy>')
    (node,) = tree.nodes()
    assert (node.clickable, node.checked, node.enabled) == (True, False, True)
    assert len(warnings) == 3


def test_words_between_the_nodes_are_left_out_and_warned_of() -> None:
    tree, warnings = parse_hierarchy_with_warnings(b"<hierarchy>\n WARNING: linker\n<node /></hierarchy>")
    assert len(list(tree.nodes())) == 1
    assert "WARNING: linker" in warnings[0]


def test_windows_of_a_full_dump_come_bottom_up_by_their_layer() -> None:
    def window(title: str, layer: int, inner: str = "") -> str:
        leaf = LEAF.format(title)
        return f'<window index="0" title="{title}" layer="{layer}">{inner}<hierarchy rotation="1">{leaf}</hierarchy></window>'

    displays = f"""<displays><display id="0">{window("keyboard", 3)}{window("app", 1, window("popup", 2))}
      <window title="secure" layer="9" /></display><display id="7">{window("car", 1)}</display></displays>"""
    tree, warnings = parse_hierarchy_with_warnings(displays.encode())
    assert [node.text for node in tree.windows] == ["app", "popup", "keyboard"]
    assert tree.rotation == 1
    assert ("window-title", "app") in tree.windows[0].extra
    assert len(warnings) == 1
    assert parse_hierarchy(write_hierarchy(tree)) == tree


def test_windows_without_layers_come_bottom_up_as_android_lists_them_top_down() -> None:
    windows = "".join(f"<window><hierarchy>{LEAF.format(title)}</hierarchy></window>" for title in ("top", "bottom"))
    tree = parse_hierarchy(f"<displays><display>{windows}</display></displays>".encode())
    assert [node.text for node in tree.windows] == ["bottom", "top"]
