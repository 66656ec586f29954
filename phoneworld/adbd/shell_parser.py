"""The text of a phone's shell, read into a tree. Does no I/O and runs nothing.

Read: words with '…', "…", $'…' and \\ ; $NAME ${NAME} $? $$ ; $(…), `…` and $((…)) ; NAME=word ; < > >> 2> 2>&1 &> ; | && || ; & ( ) { } !
Not read (a ShellSyntaxError says so): if, for, while, case, functions, here-documents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from phoneworld.errors import ActionError

MAX_NESTING = 24
_COMPOUND = {
    "if",
    "for",
    "while",
    "until",
    "case",
    "select",
    "function",
    "then",
    "else",
    "fi",
    "do",
    "done",
    "esac",
    "elif",
}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPECIAL = "?$#!@*0123456789-"
_ENDS_WORD = " \t\n;&|<>()"
_PLAIN = re.compile(r"[\w./:=,+%@-]+")
_REDIRECT = re.compile(r"(\d?)(>>|>&|<<|<&|>\||>|<)|(&>)")
_ASSIGNMENT = re.compile(_NAME.pattern + "=")
_HEX = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4}))")
_BRACED = re.compile(r"\$\{(" + _NAME.pattern + r"|[" + _SPECIAL + r"])(?::-([^}]*))?\}")
_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "0": "\0",
}


class ShellSyntaxError(ActionError):
    """A line that the phone's shell does not understand."""


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    quoted: bool = False
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Substitution:
    script: Script
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """What stands between `$((` and `))`, as it was written."""

    expression: str
    quoted: bool = False


Part: TypeAlias = Text | Variable | Substitution | Arithmetic


@dataclass(frozen=True, slots=True)
class Word:
    parts: tuple[Part, ...]

    @property
    def plain(self) -> str | None:
        """The word itself where nothing in it is quoted or expanded."""
        texts = [part.text for part in self.parts if isinstance(part, Text) and not part.quoted]
        return "".join(texts) if len(texts) == len(self.parts) else None


@dataclass(frozen=True, slots=True)
class Redirect:
    fd: int
    mode: Literal["<", ">", ">>", "dup"]
    target: Word


@dataclass(frozen=True, slots=True)
class Simple:
    assignments: tuple[tuple[str, Word], ...] = ()
    words: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    script: Script
    subshell: bool
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Pipeline:
    stages: tuple[Simple | Group, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A pipeline; `after` says when it runs, `background` whether the shell waits for it."""

    pipeline: Pipeline
    after: Literal[";", "&&", "||"] = ";"
    background: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    steps: tuple[Step, ...] = ()


def parse(source: str) -> Script:
    """Reads a whole script. Raises ShellSyntaxError. Linear in its length."""
    parser = _Parser(source, 0)
    script = parser.script(until="")
    return script


class _Parser:
    def __init__(self, source: str, depth: int) -> None:
        if depth > MAX_NESTING:
            raise ShellSyntaxError("syntax error: nested too deeply")
        self.s, self.i, self.depth = source, 0, depth

    def fail(self, found: str) -> ShellSyntaxError:
        return ShellSyntaxError(f"syntax error: unexpected '{found}'")

    def peek(self, text: str) -> bool:
        return self.s.startswith(text, self.i)

    def blank(self, *, newlines: bool = False) -> None:
        while self.i < len(self.s):
            c = self.s[self.i]
            if c in " \t\r" or (newlines and c == "\n"):
                self.i += 1
            elif self.peek("\\\n"):
                self.i += 2
            elif c == "#":
                end = self.s.find("\n", self.i)
                self.i = len(self.s) if end < 0 else end
            else:
                return

    def script(self, until: str) -> Script:
        steps: list[Step] = []
        after: Literal[";", "&&", "||"] = ";"
        while True:
            self.blank(newlines=True)
            if self.i >= len(self.s):
                if until or after != ";":
                    raise self.fail("EOF" if after == ";" else after)
                return Script(tuple(steps))
            if until and self.peek(until):
                if after != ";":
                    raise self.fail(until)
                self.i += len(until)
                return Script(tuple(steps))
            pipeline = self.pipeline()
            self.blank()
            background = self.peek("&") and not self.peek("&&")
            steps.append(Step(pipeline, after, background))
            if self.peek("&&") or self.peek("||"):
                after = "&&" if self.peek("&&") else "||"
                self.i += 2
            else:
                after = ";"
                if self.peek(";;"):
                    raise self.fail(";;")
                if background or self.peek(";") or self.peek("\n"):
                    self.i += 1
                elif self.i < len(self.s) and not (until and self.peek(until)):
                    raise self.fail(self.s[self.i])

    def pipeline(self) -> Pipeline:
        negated = False
        self.blank()
        if self.peek("! "):
            self.i, negated = self.i + 2, True
        stages = [self.command()]
        self.blank()
        while self.peek("|") and not self.peek("||"):
            self.i += 1
            self.blank(newlines=True)
            stages.append(self.command())
            self.blank()
        return Pipeline(tuple(stages), negated)

    def command(self) -> Simple | Group:
        self.blank()
        if self.peek("(") or re.match(r"\{[ \t\n]", self.s[self.i : self.i + 2]):
            subshell = self.peek("(")
            self.i += 1
            self.nest(1)
            script = self.script(until=")" if subshell else "}")
            self.nest(-1)
            redirects: list[Redirect] = []
            while (redirect := self.redirect()) is not None:
                redirects.append(redirect)
            return Group(script, subshell, tuple(redirects))
        assignments: list[tuple[str, Word]] = []
        words: list[Word] = []
        redirects = []
        while True:
            self.blank()
            if (redirect := self.redirect()) is not None:
                redirects.append(redirect)
            elif self.i >= len(self.s) or self.s[self.i] in ";&|\n)":
                break
            elif self.s[self.i] == "(":
                raise self.fail("(")
            elif not words and (name := _ASSIGNMENT.match(self.s, self.i)):
                self.i = name.end()
                assignments.append((name.group()[:-1], self.word()))
            else:
                words.append(self.word())
        if not words and not assignments and not redirects:
            raise self.fail(self.s[self.i] if self.i < len(self.s) else "EOF")
        if words and (first := words[0].plain) in _COMPOUND:
            raise ShellSyntaxError(f"syntax error: '{first}' is not served by this phone's shell")
        return Simple(tuple(assignments), tuple(words), tuple(redirects))

    def nest(self, by: int) -> None:
        self.depth += by
        if self.depth > MAX_NESTING:
            raise ShellSyntaxError("syntax error: nested too deeply")

    def redirect(self) -> Redirect | None:
        self.blank()
        found = _REDIRECT.match(self.s, self.i)
        if found is None:
            return None
        digit, mark, both = found.groups()
        if mark in ("<<", "<&") or both:
            raise ShellSyntaxError(f"syntax error: '{found.group()}' is not served by this phone's shell")
        self.i = found.end()
        self.blank()
        target = self.word()
        if not target.parts:
            raise self.fail(self.s[self.i] if self.i < len(self.s) else "newline")
        fd = int(digit) if digit else (0 if mark == "<" else 1)
        if fd > 2:
            raise ShellSyntaxError(f"syntax error: file descriptor {fd} is not served by this phone's shell")
        return Redirect(fd, {"<": "<", ">>": ">>", ">&": "dup"}.get(mark, ">"), target)  # type: ignore[arg-type]

    def word(self) -> Word:
        parts: list[Part] = []
        plain = ""

        def flush() -> None:
            nonlocal plain
            if plain:
                parts.append(Text(plain))
                plain = ""

        while self.i < len(self.s) and (c := self.s[self.i]) not in _ENDS_WORD:
            if c == "\\":
                flush()
                if self.i + 1 < len(self.s) and self.s[self.i + 1] != "\n":
                    parts.append(Text(self.s[self.i + 1], quoted=True))
                self.i += 2
            elif c == "'":
                flush()
                parts.append(Text(self.single_quoted(), quoted=True))
            elif self.peek("$'"):
                flush()
                parts.append(Text(self.dollar_quoted(), quoted=True))
            elif c == '"':
                flush()
                parts += self.double_quoted()
            elif c in "$`":
                flush()
                parts.append(self.expansion(quoted=False))
            else:
                run = _PLAIN.match(self.s, self.i)
                plain += run.group() if run else c
                self.i = run.end() if run else self.i + 1
        flush()
        return Word(tuple(parts))

    def single_quoted(self) -> str:
        end = self.s.find("'", self.i + 1)
        if end < 0:
            raise ShellSyntaxError("syntax error: no closing quote")
        text, self.i = self.s[self.i + 1 : end], end + 1
        return text

    def dollar_quoted(self) -> str:
        self.i += 2
        text = ""
        while self.i < len(self.s):
            c = self.s[self.i]
            if c == "'":
                self.i += 1
                return text
            if c != "\\":
                text += c
                self.i += 1
            elif hexed := _HEX.match(self.s, self.i):
                text += chr(int(hexed.group(1) or hexed.group(2), 16))
                self.i = hexed.end()
            else:
                following = self.s[self.i + 1 : self.i + 2]
                text += _ESCAPES.get(following, "\\" + following)
                self.i += 2
        raise ShellSyntaxError("syntax error: no closing quote")

    def double_quoted(self) -> list[Part]:
        self.i += 1
        parts: list[Part] = []
        plain = ""
        while self.i < len(self.s):
            c = self.s[self.i]
            if c == '"':
                self.i += 1
                return [*parts, Text(plain, quoted=True)]
            if c == "\\" and self.s[self.i + 1 : self.i + 2] in ("$", "`", '"', "\\", "\n"):
                plain += self.s[self.i + 1].replace("\n", "")
                self.i += 2
            elif c in "$`":
                parts += [Text(plain, quoted=True), self.expansion(quoted=True)]
                plain = ""
            else:
                plain += c
                self.i += 1
        raise ShellSyntaxError("syntax error: no closing quote")

    def arithmetic_end(self) -> int:
        """Where the `))` of the `$((` at hand begins; -1 where the brackets close apart, as those of a subshell in `$(…)` do."""
        depth = 0
        for i in range(self.i + 3, len(self.s)):
            if self.s[i] == "(":
                depth += 1
            elif self.s[i] == ")":
                if depth == 0:
                    return i if self.s.startswith("))", i) else -1
                depth -= 1
        return -1

    def expansion(self, *, quoted: bool) -> Part:
        if self.peek("`"):
            end = self.i + 1
            while end < len(self.s) and self.s[end] != "`":
                end += 2 if self.s[end] == "\\" else 1
            if end >= len(self.s):
                raise ShellSyntaxError("syntax error: no closing quote")
            inner, self.i = re.sub(r"\\([`$\\])", r"\1", self.s[self.i + 1 : end]), end + 1
            return Substitution(_Parser(inner, self.depth + 1).script(until=""), quoted)
        if self.peek("$((") and (end := self.arithmetic_end()) >= 0:
            expression, self.i = self.s[self.i + 3 : end], end + 2
            return Arithmetic(expression, quoted)
        if self.peek("$("):
            self.i += 2
            self.nest(1)
            script = self.script(until=")")
            self.nest(-1)
            return Substitution(script, quoted)
        if braced := _BRACED.match(self.s, self.i):
            self.i = braced.end()
            return Variable(braced.group(1), quoted, braced.group(2))
        if self.peek("${"):
            raise ShellSyntaxError("syntax error: bad substitution")
        if named := _NAME.match(self.s, self.i + 1):
            self.i = named.end()
            return Variable(named.group(), quoted)
        following = self.s[self.i + 1 : self.i + 2]
        self.i += 1
        if following and following in _SPECIAL:
            self.i += 1
            return Variable(following, quoted)
        return Text("$", quoted)
