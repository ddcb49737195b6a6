"""Ctrl-C cancels a command, which can still save its state."""

import signal

from crawler_app.commands import interruptible
from crawler_app.commands.interruptible import run_interruptible
from gencoro import gen


class Command:
    """Interrupts itself, and once more while it cleans up."""

    def __init__(self):
        self.is_clean = False

    @gen.coroutine
    def __call__(self):
        try:
            yield gen.moment
            signal.raise_signal(signal.SIGINT)
            yield gen.Future()
        finally:
            signal.raise_signal(signal.SIGINT)
            self.is_clean = True


def test_two_interrupts_at_once_are_one(capsys):
    command = Command()

    status = run_interruptible(command, "docs crawl")

    assert status == 130
    assert command.is_clean
    assert "gencrawl resume 'docs crawl'" in capsys.readouterr().err


def test_second_interrupt_ends_it_at_once(monkeypatch, capsys):
    monkeypatch.setattr(interruptible, "SAME_SIGNAL_S", -1.0)
    command = Command()

    status = run_interruptible(command)

    assert status == 130
    assert not command.is_clean
    assert capsys.readouterr().err == "Stopped.\n"


def test_ignored_interrupts_stay_ignored():
    @gen.coroutine
    def command():
        yield gen.moment
        signal.raise_signal(signal.SIGINT)
        yield gen.moment
        return 0

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert run_interruptible(command) == 0
    finally:
        signal.signal(signal.SIGINT, before)
