"""Writes random programs for `playing`.

A program has `main` and up to four more functions.  Every statement has a number of its
own.
"""

from tests.helpers.gencoro.writing import MAX_DEPTH, Writer, indented

__all__ = ["written"]

HEADS = {
    "coroutine": "@gen.coroutine\ndef {}():",
    "native": "async def {}():",
    "plain": "def {}():",
    "ready": "@gen.coroutine\ndef {}():",
}

# Keeps it a generator function if its block has no yield.
EPILOGUES = dict.fromkeys(("coroutine", "plain"), ("return 0", "yield"))

# What cannot be waited for: an error at the yield.
BAD = ["42", "'text'", "(ready(1), ready(2))", "print", "object"]


def written(choices: bytes) -> str:
    """Write a program: its source text."""
    return _Writer(choices).program()


class _Writer(Writer):
    """Writes one program."""

    heads = HEADS
    epilogues = EPILOGUES

    def chosen_kinds(self) -> list[str]:
        return ["coroutine", *self.some_kinds(4)]

    def ending(self) -> str:
        number = self.next_number()
        return self.choose(
            [
                f"raise Failure({number})",
                f"return {number}",
                f"raise gen.Return({number})",
            ]
        )

    def statement(self, depth: int) -> list[str]:
        options = [self.note, self.callback, self.background]
        if self.kind != "ready":
            options += [self.wait, self.wait, self.wait_iterator]
        if self.kind in ("coroutine", "plain"):
            options += [self.wait_from]
        if depth < MAX_DEPTH:
            options += [self.attempt, self.attempt, self.loop, self.setting]
        writer = self.choose(options)
        if writer in (self.attempt, self.loop, self.setting):
            return writer(depth)
        return writer()

    def note(self) -> list[str]:
        return [f"trace({self.next_number()}, variable.get(), sys.exc_info()[1])"]

    def wait(self) -> list[str]:
        number = self.next_number()
        if self.kind == "native":
            return [f"value = await {self.future(0)}", f"trace({number}, value)"]
        return [f"value = yield {self.yieldable(0)}", f"trace({number}, value)"]

    def wait_from(self) -> list[str]:
        number = self.next_number()
        calls = [f"{name}()" for name in self.callees("plain")]
        waited_for = self.choose([*calls, *calls, self.future(1)])
        return [f"value = yield from {waited_for}", f"trace({number}, value)"]

    def wait_iterator(self) -> list[str]:
        number, word = self.next_number(), "yield"
        if self.kind == "native":
            word = "await"
        futures = ", ".join(self.future(1) for _ in range(1 + self.small()))
        return [
            f"iterator = gen.WaitIterator({futures})",
            "while not iterator.done():",
            "    try:",
            f"        value = {word} iterator.next()",
            "    except Exception as error:",
            "        value = error",
            f"    trace({number}, iterator.current_index, value)",
        ]

    def attempt(self, depth: int) -> list[str]:
        number = self.next_number()
        caught = self.choose(["Failure", "Exception", "BaseException"])
        lines = ["try:", *indented(self.block(depth + 1))]
        clause = self.choose(["except", "finally", "both"])
        if clause != "finally":
            lines += [f"except {caught} as error:", f"    trace({number}, error)"]
            lines += indented(self.block(depth + 1))
        if clause != "except":
            lines += ["finally:", f"    trace({number}, 'finally')"]
            lines += indented(self.statement(MAX_DEPTH))
        return lines

    def setting(self, depth: int) -> list[str]:
        number = self.next_number()
        return [
            f"token{number} = variable.set({number})",
            *self.block_without_ending(depth + 1),
            f"variable.reset(token{number})",
        ]

    def block_without_ending(self, depth: int) -> list[str]:
        return self.statement(depth) + self.statement(depth)

    def callback(self) -> list[str]:
        error = self.choose(["", "", "", ", error=True"])
        note = f"noting({self.next_number()}{error})"
        spawned = [
            f"IOLoop.current().add_callback({name})"
            for name in self.callees("coroutine", "native")
        ]
        return [
            self.choose(
                [
                    f"{self.future(1)}.add_done_callback({note})",
                    f"IOLoop.current().add_future({self.future(1)}, {note})",
                    f"IOLoop.current().add_callback({note})",
                    f"asyncio.get_running_loop().call_soon({note})",
                    f"gen.future_add_done_callback({self.future(1)}, {note})",
                    *spawned,
                ]
            )
        ]

    def background(self) -> list[str]:
        return [f"trace({self.next_number()}, keep({self.future(0)}))"]

    # Expressions.

    def yieldable(self, depth: int) -> str:
        """Write anything that may be yielded, and some things that may not."""
        options = [self.future, self.future, self.future, self.leaf]
        if depth < MAX_DEPTH:
            options += [self.many]
        return self.choose(options)(depth)

    def leaf(self, _depth: int) -> str:
        natives = [f"{name}()" for name in self.callees("native")]
        bad = [self.choose(BAD)]
        always = ["None", "gen.moment", "job(7)", f"kept({self.small()})"]
        return self.choose([*always, *natives, *natives, *bad])

    def many(self, depth: int) -> str:
        parts = [self.yieldable(depth + 1) for _ in range(self.small())]
        if self.choose(["list", "dict"]) == "list":
            return f"[{', '.join(parts)}]"
        items = ", ".join(f"{key}: {part}" for key, part in enumerate(parts))
        return f"{{{items}}}"

    def future(self, depth: int) -> str:
        """Write what is an asyncio Future, or raises."""
        calls = [f"{name}()" for name in self.callees("coroutine", "ready")]
        if depth < MAX_DEPTH and self.small() == 0:
            return self.wrapped(depth)
        number, units = self.next_number(), self.small()
        return self.choose(
            [
                f"ready({number})",
                f"failed({number})",
                f"later({units}, {number})",
                f"late_failure({units}, {number})",
                f"sleep({units})",
                f"cancelling({self.small()}, later({units}, {number}))",
                f"cancelling({self.small()}, late_failure({units}, {number}))",
                f"cancelling({self.small()}, sleep({units}))",
                *calls,
                *calls,
                *calls,
            ]
        )

    def wrapped(self, depth: int) -> str:
        inner = self.future(depth + 1)
        return self.choose(
            [
                f"timeout({self.small()}, {inner})",
                f"timeout({self.small()}, {self.many(depth + 1)})",
                f"gen.multi({self.many(depth + 1)})",
                f"gen.multi([{inner}, {inner}], quiet_exceptions=Failure)",
                f"gen.maybe_future({self.choose([inner, '5'])})",
                f"chained({inner})",
            ]
        )
