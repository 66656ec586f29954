"""The phone's shell: quoting, joining, pipes, redirection, expansion; and that nothing it is given can break it."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from phoneworld.adbd.shell_parser import ShellSyntaxError, parse
from tests.adbd.fixtures import Desk


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("echo hi", "hi\n"),
        ("echo 'a  b' \"c d\" e\\ f", "a  b c d e f\n"),
        ("echo $'a\\nb\\x41\\u00e9'", "a\nbAé\n"),
        ('echo "a\\"b\\$c\\`d"', 'a"b$c`d\n'),
        ("echo a;echo b", "a\nb\n"),
        ("echo a\necho b", "a\nb\n"),
        ("true && echo yes || echo no", "yes\n"),
        ("false && echo yes || echo no", "no\n"),
        ("false; echo $?", "1\n"),
        ("nosuch 2>/dev/null; echo $?", "127\n"),
        ("! true; echo $?", "1\n"),
        ("X=5; echo $X ${X}0 \"$X\" '$X' ${Y:-none}", "5 50 5 $X none\n"),
        ("X='a  b'; echo $X; echo \"$X\"", "a b\na  b\n"),
        ("X=1 true; echo [$X]", "[]\n"),
        ("CLASSPATH=/x echo run", "run\n"),
        ("echo one two | wc -w", "2\n"),
        ("printf 'a b\nc\n' > /sdcard/f; cd /sdcard; cp f g; wc -l f; wc f g; wc -c < f", "2 f\n2 3 6 f\n2 3 6 g\n4 6 12 total\n6\n"),
        ("echo b; echo a | sort; echo c", "b\na\nc\n"),
        ("printf 'x\\ny\\nz\\n' | grep -v y | tail -n 1", "z\n"),
        ("nosuch 2>&1 | grep -c 'inaccessible or not found'", "1\n"),
        ("echo gone >/dev/null; echo kept", "kept\n"),
        ("(cd /sdcard; pwd); pwd", "/storage/emulated/0\n/\n"),
        ("{ echo a; echo b; } | wc -l", "2\n"),
        ("echo $(echo deep $(echo er)) `echo old`", "deep er old\n"),
        ("echo hi > /sdcard/f; echo more >> /sdcard/f; cat < /sdcard/f; cat /sdcard/f | wc -l", "hi\nmore\n2\n"),
        ("for_x=1; echo $for_x # a comment; echo no", "1\n"),
        ("echo a#b", "a#b\n"),
        ("touch /sdcard/1.png /sdcard/2.png; cd /sdcard; echo *.png '*.png' x*.none", "1.png 2.png *.png x*.none\n"),
        ("echo done &", "done\n"),
        ("sh -c 'echo in $0; exit 3'; echo $?", "in /system/bin/sh\n3\n"),
        ("eval 'echo ev'", "ev\n"),
        ("[ -e /sdcard/none ]; echo $?; [ -d /sdcard ] && echo folder", "1\nfolder\n"),
        ("[ 3 -gt 2 -a x = x ] && [ ! -f /none ] && test -n y && echo all", "all\n"),
        ("echo 'a'\"b\"c\\d", "abcd\n"),
        ("echo a\\\nb", "ab\n"),
        ("echo ~ $ $% a$", "~ $ $% a$\n"),
        ("echo; echo -n x; echo -e 'a\\tb'", "\nxa\tb\n"),
        ("echo X4EXIT:$?", "X4EXIT:0\n"),
        ("/system/bin/echo abs; toybox echo box; command -v input", "abs\nbox\n/system/bin/input\n"),
        ("", ""),
        ("   \n ; ", None),
    ],
)
def test_a_line_means_what_it_means_on_a_phone(desk: Desk, line: str, expected: str | None) -> None:
    out, err, status = desk.sh(line)
    if expected is None:
        assert status == 1 and "syntax error" in err
    else:
        assert out == expected, err


@given(st.text(st.characters(min_codepoint=1, exclude_categories=("Cs",)), max_size=40))
@example("a\nb'\"$(reboot)`x`\\")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_quoted_word_comes_through_whole(desk: Desk, word: str) -> None:
    assert desk.sh(f"printf %s {shlex.quote(word)}")[0] == word


@given(st.text(st.sampled_from(list("abc$'\"`\\|&;<>(){}! \n*?[]#=2")), max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_line_is_run_or_refused_in_words(desk: Desk, line: str) -> None:
    _, err, status = desk.sh(line)
    assert 0 <= status <= 255
    assert status == 0 or err or status in (1, 127, 141), (line, err, status)


def test_deep_nesting_is_refused_not_a_crash() -> None:
    for line in ("(" * 5000, "$(" * 5000, "`" * 4001, "echo " + "$(echo " * 200 + ")" * 200, "{ " * 3000):
        with pytest.raises(ShellSyntaxError):
            parse(line)


@pytest.mark.parametrize(
    "line",
    [
        "if true; then echo x; fi",
        "for i in 1 2; do echo $i; done",
        "echo $((1+1)",
        "cat <<E",
        "echo 'open",
        "a && ",
        "| a",
        "(echo",
        "a ;; b",
        "f() { x; }",
    ],
)
def test_what_is_not_served_is_a_syntax_error_in_words(desk: Desk, line: str) -> None:
    out, err, status = desk.sh(line)
    assert (out, status) == ("", 1)
    assert err.startswith("/system/bin/sh: syntax error")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1+2", "3"), (" 2 + 3 * 4 ", "14"), ("(2+3)*4", "20"), ("-7/2", "-3"), ("-7%2", "-1"), ("1<<4|1", "17"), ("3>2&&0", "0"), ("!0", "1"), ("~5", "-6"),
        ("0x1F", "31"), ("X*2", "42"), ("$X+${X}", "42"), ("none", "0"), ("1?2:3", "2"), ("", "0"), ("2147483647+1", "-2147483648"), ("- -3", "3"),
        ("1==1 && 2!=3 || 0", "1"), ("5-1-1", "3"), ("6&3^1", "3"), ("$?", "0"),
    ],
)  # fmt: skip
def test_sums_of_integers_are_the_shells(desk: Desk, expression: str, value: str) -> None:
    assert desk.out(f'X=21; echo $(({expression})) "a$(({expression}))b"') == f"{value} a{value}b\n"


@pytest.mark.parametrize("expression", ["1/0", "1+", "1 2", "(1", "x=1", "1.5", "@", "$X+1", "5%0", "(" * 500 + ")" * 500, "-" * 500 + "1", "9" * 5000])
def test_a_sum_that_is_none_ends_the_line_in_words(desk: Desk, expression: str) -> None:
    out, err, status = desk.sh(f"X=words; echo $(({expression})); echo on")
    assert (out, status) == ("", 1) and err.startswith("/system/bin/sh: ") and "Traceback" not in err


def test_a_subshell_in_a_substitution_is_no_sum(desk: Desk) -> None:
    assert desk.out("echo $((echo a); echo b) $( (echo c) )") == "a b c\n"
    assert desk.out("i=0; i=$((i+1)); i=$((i+1)); echo $i; sleep $((0)); echo $(echo $((1+1)))") == "2\n2\n"


def test_an_unknown_command_is_told_as_android_tells_it(desk: Desk) -> None:
    assert desk.sh("minitouch -d") == ("", "/system/bin/sh: minitouch: inaccessible or not found\n", 127)
    desk.sh("echo x > /data/local/tmp/tool; chmod 755 /data/local/tmp/tool")
    assert desk.sh("/data/local/tmp/tool")[1:] == (
        "/system/bin/sh: /data/local/tmp/tool: can't execute: Permission denied\n",
        126,
    )
    assert "minitouch -d" in list(desk.phone.refusals)


@pytest.mark.parametrize(
    "line",
    [
        "tail -n x /sdcard/f", "head -c", "wc -q", "screencap -p -d 7", "content query --uri content://settings/none", "am", "pm", "wm",
        "cmd activity", "cmd package nonsense",
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_and_has_a_status(desk: Desk, line: str) -> None:
    out, err, status = desk.sh(line)
    assert status not in (0, 127) and (out or err).strip(), line


def test_the_status_of_a_pipe_is_that_of_its_last_command(desk: Desk) -> None:
    assert desk.sh("false | true")[2] == 0
    assert desk.sh("true | false")[2] == 1


def test_a_reader_that_leaves_early_ends_the_writer(desk: Desk) -> None:
    desk.sh("screencap /sdcard/raw")  # 3.7 MB: more than a pipe holds
    assert desk.sh("cat /sdcard/raw | true; echo $?")[0] == "0\n"


def test_stderr_and_stdout_are_kept_apart_and_joined_on_demand(desk: Desk) -> None:
    assert desk.sh("ls /none")[:2] == ("", "ls: /none: No such file or directory\n")
    assert desk.sh("ls /none 2>&1")[:2] == ("ls: /none: No such file or directory\n", "")
    assert desk.sh("ls /none >/sdcard/e 2>&1; cat /sdcard/e")[0] == "ls: /none: No such file or directory\n"
    assert desk.sh("echo x >/system/x")[1:] == ("/system/bin/sh: can't create /system/x: Read-only file system\n", 1)


def test_stdin_reaches_the_command(desk: Desk) -> None:
    assert desk.sh("cat > /sdcard/in; md5sum /sdcard/in", b"abc")[0] == "900150983cd24fb0d6963f7d28e17f72  /sdcard/in\n"


def test_exit_ends_the_line(desk: Desk) -> None:
    assert desk.sh("echo a; exit 4; echo b") == ("a\n", "", 4)
    assert desk.sh("(exit 5); echo $?")[0] == "5\n"


def test_the_background_is_waited_for_and_does_not_hold_up_the_line(desk: Desk) -> None:
    assert desk.sh("sleep 0.05 && echo late & echo early; wait; echo end")[0] == "early\nlate\nend\n"


def test_folders_are_listed_to_their_depth_and_null_reads_as_nothing(desk: Desk) -> None:
    desk.sh("mkdir -p /sdcard/t/in/ner; echo x > /sdcard/t/a; echo y > /sdcard/t/in/b")
    assert desk.sh("ls -R /sdcard/t")[0] == "/sdcard/t:\na\nin\n\n/sdcard/t/in:\nb\nner\n\n/sdcard/t/in/ner:\n"
    assert desk.sh("ls /sdcard/t/in /sdcard/t/in/ner")[0] == "/sdcard/t/in:\nb\nner\n\n/sdcard/t/in/ner:\n"
    assert desk.sh("cat /dev/null; cat </dev/null; cp /dev/null /sdcard/t/a; ls -l /sdcard/t/a | wc -l; cat /sdcard/t/a") == ("1\n", "", 0)
