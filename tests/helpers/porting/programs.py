"""Writes random programs for the converter: coroutines that call each other in every way.

Each sleep has a length of its own, so that two coroutines never go on at the same time by
chance.  Every statement has a number of its own.
"""

from tests.helpers.gencoro.writing import MAX_DEPTH, Writer, indented

__all__ = ["HEAD", "written"]

# What a program imports.  `stand` is not part of it.
HEAD = """\
import datetime

from gencoro import gen
from gencoro.ioloop import IOLoop
from stand import Failure, Thing, failed, later, noting, ready, short, trace

THING = Thing()
"""

HEADS = {
    "coroutine": "@gen.coroutine\ndef {}():",
    "helper": "def {}():",
    "quick": "@gen.coroutine\ndef {}():",
    "starter": "def {}():",
}

# A generator function, whatever its block has become.
EPILOGUES = dict.fromkeys(("coroutine", "helper"), ("return 0", "yield"))


def written(choices: bytes) -> str:
    """Write a program: its source text."""
    return HEAD + "\n\n" + _Writer(choices).program()


class _Writer(Writer):
    """Writes one program."""

    heads = HEADS
    epilogues = EPILOGUES

    def chosen_kinds(self) -> list[str]:
        return ["coroutine", *self.some_kinds(5), "coroutine"]

    def ending(self) -> str:
        number = self.next_number()
        if self.kind == "starter":
            return f"return {self.future()}"
        endings = [f"raise Failure({number})", f"return {number}"]
        if self.kind != "helper":
            endings += [f"raise gen.Return({number})"] * 2
        if self.kind == "coroutine":
            endings.append(f"raise gen.Return((yield {self.future()}))")
        return self.choose(endings)

    def statement(self, depth: int) -> list[str]:
        options = [self.note, self.forget, self.store, self.callback]
        if self.kind in ("coroutine", "helper"):
            options += [self.wait, self.wait, self.wait_late, self.wait_twice]
            options += [self.collect, self.wait_iterator, self.wait_from]
        if depth < MAX_DEPTH:
            nested = self.choose([self.attempt, self.attempt, self.loop, self.branch])
            if self.choose([True, False, False]):
                return nested(depth)
        return self.choose(options)()

    def note(self) -> list[str]:
        return [f"trace({self.next_number()})"]

    def wait(self) -> list[str]:
        number = self.next_number()
        return [f"value = yield {self.yieldable(0)}", f"trace({number}, value)"]

    def forget(self) -> list[str]:
        return [self.call(), f"trace({self.next_number()})"]

    def store(self) -> list[str]:
        number = self.next_number()
        return [f"THING.kept = {self.future()}", f"trace({number})"]

    def wait_late(self) -> list[str]:
        number, value = self.next_number(), self.future()
        return [
            f"kept{number} = {value}",
            *self.statement(MAX_DEPTH),
            f"trace({number}, (yield kept{number}))",
        ]

    def wait_twice(self) -> list[str]:
        number = self.next_number()
        return [
            f"kept{number} = {self.future()}",
            f"trace({number}, (yield kept{number}), (yield kept{number}))",
        ]

    def collect(self) -> list[str]:
        number = self.next_number()
        return [
            f"batch{number} = []",
            "for _ in range(2):",
            f"    batch{number}.append({self.future()})",
            f"    trace({number})",
            f"trace({number}, (yield batch{number}))",
        ]

    def wait_from(self) -> list[str]:
        number = self.next_number()
        calls = [f"{name}()" for name in self.callees("helper")]
        waited_for = self.choose([*calls, *calls, self.future()])
        return [f"value = yield from {waited_for}", f"trace({number}, value)"]

    def wait_iterator(self) -> list[str]:
        number = self.next_number()
        futures = ", ".join(self.future() for _ in range(1 + self.small()))
        return [
            f"iterator = gen.WaitIterator({futures})",
            "while not iterator.done():",
            "    try:",
            "        value = yield iterator.next()",
            "    except Failure as error:",
            "        value = error",
            f"    trace({number}, iterator.current_index, value)",
        ]

    def callback(self) -> list[str]:
        number = self.next_number()
        names = self.callees("coroutine", "quick")
        return [
            self.choose(
                [
                    f"{self.future()}.add_done_callback(noting({number}))",
                    f"IOLoop.current().add_future({self.future()}, noting({number}))",
                    *(f"IOLoop.current().add_callback({name})" for name in names),
                    *(
                        f"IOLoop.current().call_later(short(), {name})"
                        for name in names
                    ),
                    *(f"THING.function = {name}" for name in names),
                ]
            )
        ]

    def attempt(self, depth: int) -> list[str]:
        number = self.next_number()
        caught = self.choose(["Failure", "Failure", "ValueError", "Exception"])
        lines = ["try:", *indented(self.block(depth + 1))]
        clause = self.choose(["except", "finally", "both"])
        if clause != "finally":
            lines += [f"except {caught} as error:", f"    trace({number}, error)"]
            lines += indented(self.block(depth + 1))
        if clause != "except":
            lines += ["finally:", f"    trace({number}, 'finally')"]
            lines += indented(self.statement(MAX_DEPTH))
        return lines

    def branch(self, depth: int) -> list[str]:
        return [
            "if THING.flip():",
            *indented(self.block(depth + 1)),
            "else:",
            *indented(self.block(depth + 1)),
        ]

    # Expressions.

    def yieldable(self, depth: int) -> str:
        """Write anything that may be yielded."""
        options = [self.future, self.future, self.future, self.pause, self.bad]
        if depth < MAX_DEPTH:
            many = self.choose([self.a_list, self.a_dict, self.comprehension])
            options += [lambda: many(depth), lambda: many(depth)]
        return self.choose(options)()

    def pause(self) -> str:
        return self.choose(["gen.sleep(short())", "None", "gen.moment"])

    def bad(self) -> str:
        return self.choose(["42", "'text'", f"({self.future()}, {self.future()})"])

    def a_list(self, depth: int) -> str:
        return f"[{', '.join(self.yieldable(depth + 1) for _ in range(self.small()))}]"

    def a_dict(self, depth: int) -> str:
        parts = [self.yieldable(depth + 1) for _ in range(self.small())]
        return f"{{{', '.join(f'{key}: {part}' for key, part in enumerate(parts))}}}"

    def comprehension(self, _depth: int) -> str:
        return f"[{self.future()} for _ in range({self.small()})]"

    def future(self) -> str:
        """Write what is a Future, or raises."""
        number = self.next_number()
        calls = [self.call()] * 4 if self.callees(*HEADS) else []
        return self.choose(
            [
                f"ready({number})",
                f"failed({number})",
                f"later({number})",
                "gen.sleep(short())",
                f"gen.with_timeout(datetime.timedelta(seconds=short()), later({number}))",
                f"gen.multi([later({number}), later({number})])",
                *calls,
            ]
        )

    def call(self) -> str:
        names = self.callees("coroutine", "quick", "starter")
        return f"{self.choose(names)}()" if names else f"later({self.next_number()})"
