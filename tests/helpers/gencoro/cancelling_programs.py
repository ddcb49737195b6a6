"""Writes random programs for `cancelling_play`.

A program has `main` and up to four more functions.  The argument ``me`` of each is
the key of its Future.  Every statement has a number of its own.
"""

from tests.helpers.gencoro.writing import MAX_DEPTH, Writer, indented

__all__ = ["written"]

HEADS = {
    "coroutine": "COROUTINE {}(me):",
    # What is called by `yield from`, or awaited as it is.
    "helper": "HELPER {}(me):",
    # A native coroutine on both sides, which runs in a Task.
    "native": "async def {}(me):",
    # The same, but it may run in no Task: it never asks for it.
    "taskless": "async def {}(me):",
}

# Keeps it a generator function if its block has no yield.
EPILOGUES = dict.fromkeys(("coroutine", "helper"), ("return 0", "WAIT(None)"))


# What may be part of a body, by its kind.
INSIDE = {
    "coroutine": ["helper", "taskless"],
    "helper": ["helper"],
    "native": ["native", "taskless"],
    "taskless": ["taskless"],
}


def written(choices: bytes) -> str:
    """Write a program: its source text, for both sides."""
    return _Writer(choices).program()


class _Writer(Writer):
    """Writes one program."""

    heads = HEADS
    epilogues = EPILOGUES

    def chosen_kinds(self) -> list[str]:
        return ["coroutine", *self.some_kinds(3), "coroutine"]

    def is_native(self) -> bool:
        return self.kind in ("native", "taskless")

    # Statements.

    def ending(self) -> str:
        number = self.next_number()
        return self.choose(
            [
                f"raise Failure({number})",
                f"return {number}",
                f"raise asyncio.CancelledError({number})",
            ]
        )

    def statement(self, depth: int) -> list[str]:
        simple = [self.note, self.background, self.cancel]
        simple += [self.wait, self.wait, self.wait, self.wait_inside]
        compound = [self.attempt, self.attempt, self.attempt, self.loop]
        if self.kind == "native":
            compound += [self.time_limit, self.group]
        writer = self.choose([*simple, *compound] if depth < MAX_DEPTH else simple)
        return writer(depth) if writer in compound else writer()

    def note(self) -> list[str]:
        return [f"trace({self.next_number()})"]

    def background(self) -> list[str]:
        number = self.next_number()
        future = self.choose([self.future(0), f"hold({number}, {self.future(0)})"])
        return [f"trace({number}, {future})"]

    def cancel(self) -> list[str]:
        number, place, units = self.next_number(), self.small(), self.small()
        return [
            self.choose(
                [
                    f"cancel({number}, me)",
                    f"cancel({number}, me, 'by itself')",
                    f"cancel_at({number}, {place})",
                    f"cancel_at({number}, {place}, 'by another')",
                    f"cancel_after({number}, {units}, {place})",
                ]
            )
        ]

    def wait(self) -> list[str]:
        number = self.next_number()
        waited_for = (
            f"await {self.awaitable()}"
            if self.is_native()
            else f"WAIT({self.yieldable(0)})"
        )
        return [f"value = {waited_for}", f"trace({number}, value)"]

    def wait_inside(self) -> list[str]:
        """Wait in another body that is part of this one."""
        number = self.next_number()
        callees = self.callees(*INSIDE[self.kind])
        calls = [f"native({number}, {name})" for name in callees]
        if not self.is_native():
            calls = [f"{name}(me)" for name in callees]
        word = "await" if self.is_native() else "FROM"
        waited_for = self.choose([*calls, *calls, self.future(1)])
        return [f"value = {word}({waited_for})", f"trace({number}, value)"]

    def attempt(self, depth: int) -> list[str]:
        number = self.next_number()
        errors = ["asyncio.CancelledError"] * 3
        errors += ["Failure", "Exception", "BaseException"]
        lines = ["try:", *indented(self.block(depth + 1))]
        clause = self.choose(["except", "finally", "both"])
        if clause != "finally":
            lines += [f"except {self.choose(errors)} as error:"]
            lines += [f"    trace({number}, error)"]
            lines += indented(self.handling(depth + 1))
        if clause != "except":
            lines += ["finally:", f"    trace({number}, 'finally')"]
            lines += indented(self.statement(MAX_DEPTH))
        return lines

    def handling(self, depth: int) -> list[str]:
        kind = self.choose(["swallow", "raise", "end", "go on"])
        if kind == "go on":
            return self.block(depth)
        lines = {"swallow": [], "raise": ["raise"], "end": [self.ending()]}
        return lines[kind]

    def time_limit(self, depth: int) -> list[str]:
        number = self.next_number()
        return [
            "try:",
            f"    async with asyncio.timeout({self.small()} * UNIT_S):",
            *indented(indented(self.block(depth + 1))),
            "except TimeoutError as error:",
            f"    trace({number}, error)",
        ]

    def group(self, depth: int) -> list[str]:
        lines = ["async with TaskGroup() as group:"]
        for _ in range(1 + self.small() % 2):
            lines += [
                f"    hold({self.next_number()}, group.create_task({self.child()}))"
            ]
        return [*lines, *indented(self.block(depth + 1))]

    # Expressions.

    def child(self) -> str:
        """Write a native coroutine for a Task."""
        number = self.next_number()
        names = self.callees("native", "taskless")
        natives = [f"native({number}, {name})" for name in names]
        return self.choose([*natives, *natives, f"awaiting({self.future(1)})"])

    def yieldable(self, depth: int) -> str:
        """Write anything that may be yielded."""
        options = [self.future, self.future, self.future, self.leaf]
        if depth < MAX_DEPTH:
            options += [self.many]
        return self.choose(options)(depth)

    def leaf(self, depth: int) -> str:
        number, units = self.next_number(), self.small()
        natives = [
            f"native({number}, {name})" for name in self.callees("native", "taskless")
        ]
        return self.choose(
            [
                "None",
                "moment",
                f"job({number}, {units})",
                f"job({number}, {units}, begun=True)",
                f"job({number}, {units}, error=True)",
                f"asyncio.wait_for({self.future(depth + 1)}, {units} * UNIT_S)",
                *natives,
                *natives,
            ]
        )

    def awaitable(self) -> str:
        """Write what a native coroutine may await."""
        future = self.future(0)
        options = [future, future, future, "asyncio.sleep(0)"]
        if self.kind == "native":
            options += [f"asyncio.wait_for({future}, {self.small()} * UNIT_S)"]
        return self.choose(options)

    def many(self, depth: int) -> str:
        parts = [self.yieldable(depth + 1) for _ in range(1 + self.small())]
        if self.choose(["list", "dict"]) == "list":
            return f"[{', '.join(parts)}]"
        items = ", ".join(f"{key}: {part}" for key, part in enumerate(parts))
        return f"{{{items}}}"

    def future(self, depth: int) -> str:
        """Write what is a Future."""
        number, units = self.next_number(), self.small()
        if depth < MAX_DEPTH and self.small() == 0:
            return self.wrapped(depth, number, units)
        calls = [f"call({number}, {name})" for name in self.callees("coroutine")]
        tasks = [
            f"task({number}, {name})" for name in self.callees("native", "taskless")
        ]
        return self.choose(
            [
                f"ready({number})",
                f"failed({number})",
                f"later({units}, {number})",
                f"late_failure({units}, {number})",
                *[f"sleep({units})"] * 3,
                f"kept(me, {self.small()})",
                *calls * 5,
                *tasks * 2,
            ]
        )

    def wrapped(self, depth: int, number: int, units: int) -> str:
        inner = self.future(depth + 1)
        return self.choose(
            [
                f"asyncio.shield({inner})",
                f"timeout({units}, {inner})",
                f"multi({number}, {self.many(depth + 1)})",
                f"hold({number}, asyncio.gather({inner}, {self.future(depth + 1)}))",
            ]
        )
