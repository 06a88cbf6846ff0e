"""A terminal to look at: a pseudo terminal with a program on it, and a model of what a person would see.

The model knows the escape codes that muster writes and refuses any other, so that a test also notices a torn sequence."""

import codecs
import contextlib
import fcntl
import os
import re
import signal
import struct
import subprocess
import termios
import threading
import time
import unicodedata

from harness import wait_until

SEQUENCE = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])")


class Model:
    """The cells of a terminal, fed with what a program writes."""

    def __init__(self, columns, rows):
        self.alternate = False
        self.cursor_shown = True
        self.wraps = True
        self.unknown = []
        self.left = 0  # how often the alternate screen was left
        self.main = ""  # what was written to the normal screen
        self.rest = ""
        self.resize(columns, rows)

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.x = self.y = 0
        self.cells = [[" "] * columns for _ in range(rows)]

    def feed(self, text):
        text, self.rest = self.rest + text, ""
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                match = SEQUENCE.match(text, at)
                if not match:
                    if len(text) - at < 16 and re.fullmatch(r"\x1b(\[\??[0-9;]*)?", text[at:]):
                        self.rest = text[at:]
                        return
                    # An escape breaks a sequence off, as it does on a terminal.
                    following = text.find("\x1b", at + 1)
                    if following < 0:
                        self.unknown.append(text[at:at + 16])
                        return
                    at = following
                    continue
                self.sequence(*match.groups())
                at = match.end()
            else:
                self.character(text[at])
                at += 1

    def sequence(self, private, numbers, final):
        if private:
            on = final == "h"
            if numbers == "1049":
                self.left += self.alternate and not on
                self.alternate = on
            elif numbers == "25":
                self.cursor_shown = on
            elif numbers == "7":
                self.wraps = on
            else:
                self.unknown.append(numbers + final)
        elif final == "H":
            row, _, column = numbers.partition(";")
            self.y, self.x = int(row or 1) - 1, int(column or 1) - 1
        elif final == "J":
            self.cells = [[" "] * self.columns for _ in range(self.rows)]
        elif final != "m":
            self.unknown.append(numbers + final)

    def character(self, character):
        if not self.alternate:
            self.main += character
            return
        if character < " ":
            self.unknown.append(character)
            return
        width = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if self.y < self.rows and self.x < self.columns:
            self.cells[self.y][self.x] = character
            if width == 2 and self.x + 1 < self.columns:
                self.cells[self.y][self.x + 1] = ""
        self.x += width

    def lines(self):
        return ["".join(row).rstrip() for row in self.cells]

    def text(self):
        return "\n".join(self.lines())


class Session:
    """A program on a pseudo terminal of its own, which is its controlling terminal."""

    def __init__(self, words, columns=80, rows=24, environment=None, cwd=None):
        self.master, self.slave = os.openpty()
        self.lock = threading.Lock()
        self.model = Model(columns, rows)
        self.raw = b""
        self.ended = False
        self.reading = threading.Event()
        self.reading.set()
        self.set_size(columns, rows)
        self.before = termios.tcgetattr(self.slave)
        env = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **(environment or {})}
        for name in ("CI", "NO_COLOR"):
            if name not in (environment or {}):
                env.pop(name, None)
        self.process = subprocess.Popen(words, stdin=self.slave, stdout=self.slave, stderr=self.slave, cwd=cwd, env=env,
                                        start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def set_size(self, columns, rows):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        with self.lock:
            self.model.resize(columns, rows)
            self.set_size(columns, rows)

    def read(self):
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while True:
            self.reading.wait()
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            if not data:
                return
            with self.lock:
                self.ended = self.ended or b"\0" in data
                data = data.replace(b"\0", b"")
                self.raw += data
                self.model.feed(decoder.decode(data))

    def type(self, text):
        os.write(self.master, text.encode())

    def screen(self):
        with self.lock:
            return self.model.text()

    def wait_for(self, *texts, limit=15, what=None):
        """Until the screen shows all of the texts; returns it."""
        def look():
            screen = self.screen()
            return screen if all(text in screen for text in texts) else None
        try:
            return wait_until(look, limit, what or repr(texts))
        except AssertionError as error:
            raise AssertionError(f"{error}; the screen was\n{self.screen()}") from None

    def wait_main(self, text, limit=15):
        """Until the normal screen has got the text; returns all of it."""
        def look():
            with self.lock:
                return self.model.main if text in self.model.main else None
        return wait_until(look, limit, f"{text!r} on the normal screen")

    def end(self, limit=20):
        """Waits for the program's end; returns its exit code."""
        code = self.process.wait(limit)
        self.wait_for_last_output()
        return code

    def wait_for_last_output(self):
        """A zero byte, which no program writes, follows whatever the program has written."""
        mark = os.open(os.ttyname(self.slave), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)

        def put():
            with contextlib.suppress(BlockingIOError):
                return os.write(mark, b"\0") == 1
        wait_until(put, 5, "room for a mark")
        os.close(mark)
        wait_until(lambda: self.ended, 5, "the last output")

    def restored(self):
        """What of the terminal is not as it was; empty if all is."""
        found = []
        if termios.tcgetattr(self.slave) != self.before:
            found.append("its settings differ")
        with self.lock:
            if self.model.alternate:
                found.append("the alternate screen is still up")
            if not self.model.cursor_shown:
                found.append("the cursor is hidden")
            if not self.model.wraps:
                found.append("lines do not wrap")
            if self.model.unknown:
                found.append(f"unknown output {self.model.unknown[:5]}")
        return found

    def hang_up(self):
        os.close(self.master)
        self.master = -1

    def close(self):
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.reading.set()
        os.close(self.slave)
        if self.master >= 0:
            time.sleep(0.01)
            os.close(self.master)
        self.thread.join(2)
