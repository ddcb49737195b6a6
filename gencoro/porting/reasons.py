"""Reasons for leaving a function unconverted.

Rule: each has a code, says in one sentence what is there, and what a person would do.

Pure.  Used by everything that refuses to convert something.
"""

import ast
from typing import NamedTuple

from gencoro.porting.fixer import Refusal
from gencoro.porting.program import Function

__all__ = ["REASONS", "Reason", "refusal"]


class Reason(NamedTuple):
    """Why a function stays as it is.

    Attributes:
        code: The code, beginning with ``GC9``.
        why: A sentence; ``{name}`` is replaced.
        advice: What a person would do.
    """

    code: str
    why: str
    advice: str


REASONS = {
    "unreadable": Reason(
        "GC900",
        "the file cannot be parsed: {name}",
        "make it valid Python 3 (2to3 converts Python 2; what is called `async` or "
        "`await` needs another name), and convert again",
    ),
    "unread": Reason(
        "GC921",
        "the file cannot be read: {name}",
        "make it readable, and convert again: it may use what is converted",
    ),
    "rewriting": Reason(
        "GC901",
        "the file cannot be changed: {name}",
        "convert it by hand, or make it simpler and convert again",
    ),
    "uncertain-decorator": Reason(
        "GC902",
        "its decorator {name} may be another one than Tornado's: its name is bound several "
        "times, or by an `import *` of a module that is not read",
        "import it by its name, and once: `from tornado import gen`",
    ),
    "decorator-below": Reason(
        "GC903",
        "the decorator {name} receives the generator function",
        "check that it does not look into the function, which becomes an `async def`, "
        "and convert by hand",
    ),
    "yield-point": Reason(
        "GC904",
        "it yields {name}, which only a generator coroutine can wait for",
        "yield a Future in its place; if this line has another reason too, that one "
        "says why the converter does not do this",
    ),
    "return-caught": Reason(
        "GC905",
        "`raise gen.Return` here is caught by `except {name}`, and a `return` is not",
        "assign the value inside the `try`, and write `raise gen.Return(value)` after "
        "it",
    ),
    "return-in-with": Reason(
        "GC906",
        "`with {name}` sees `raise gen.Return` as an error, but not a `return`",
        "assign the value inside the `with`, and write `raise gen.Return(value)` "
        "after it",
    ),
    "return-in-finally": Reason(
        "GC907",
        "`raise gen.Return` in a `finally` would become a `return` there",
        "assign the value, and write `raise gen.Return(value)` after the `try` "
        "statement",
    ),
    "return-elsewhere": Reason(
        "GC908",
        "{name} may raise gen.Return, which ends a generator coroutine only",
        "let it return the value, and write `raise gen.Return(...)` in the coroutine "
        "itself",
    ),
    "return-arguments": Reason(
        "GC909",
        "gen.Return has other arguments here than one value",
        "write `return value`, with the one value",
    ),
    "yield-from": Reason(
        "GC910",
        "`yield from {name}` is not allowed in an `async def`",
        "decorate the generator with @gen.coroutine and yield its call, or yield its "
        "items in a `for` loop",
    ),
    "helper-used-elsewhere": Reason(
        "GC911",
        "the generator {name} has other users than `yield from` in coroutines",
        "decorate it with @gen.coroutine, and yield its call wherever it is used",
    ),
    "stack-context": Reason(
        "GC912",
        "it uses a stack context ({name}), which does not follow into an `async def`",
        "pass on what it carries in a contextvars.ContextVar, catch errors with "
        "`try`, or leave a NullContext out",
    ),
    "returns-generator": Reason(
        "GC913",
        "it may return a generator ({name}), which gen.coroutine runs",
        "use `return (yield from ...)`, and convert again",
    ),
    "name-taken": Reason(
        "GC914",
        "the name {name} is needed, and means something else here",
        "rename the other one, or import it by another name (`import ... as ...`), "
        "and convert again",
    ),
    "bound-inside": Reason(
        "GC977",
        "{name} is imported inside a function only, and a helper of the module needs it",
        "import it at the top of the module: `from tornado import gen`",
    ),
    "stop-iteration": Reason(
        "GC916",
        "StopIteration ends a generator coroutine, and is an error in an `async def`",
        "write `return` in its place, or `next(items, None)` for the `next(items)` "
        "that raises it",
    ),
    "unwrapped": Reason(
        "GC918",
        "{name} is used, which is the generator function",
        "use the coroutine itself, without `__wrapped__`",
    ),
    "current-task": Reason(
        "GC919",
        "{name} gives something else in an `async def`, which runs in a Task",
        "check what the program expects, and convert by hand",
    ),
    "caller": Reason(
        "GC922",
        "it asks for the frame of its caller, which is not the same for an `async def`",
        "check what the program expects, and convert by hand",
    ),
    "names-listed": Reason(
        "GC923",
        "the program lists or copies the names of its module ({name}), and a conversion "
        "adds names to it",
        "pick names by what they are (`isinstance(value, type)`, "
        '`name.startswith("test_")`) or write them out, and convert again',
    ),
    "unawaited": Reason(
        "GC978",
        "{name} is an `async def` of today's Tornado, whose call starts nothing in another "
        "`async def`, and it is not yielded at once",
        "yield the call itself, or pass it to gen.convert_yielded, and convert again",
    ),
    "in-f-string": Reason(
        "GC920",
        "it yields inside an f-string",
        "assign the value to a variable first",
    ),
    "skipped": Reason(
        "GC917",
        "it needs {name}, which is switched off",
        "take that code out of --skip, or add it to --only",
    ),
    # Of --to coroutine.
    "threads": Reason(
        "GC950",
        "the program may run this on another thread, where IOLoop.instance() is the main "
        "thread's loop",
        "pass the loop to the thread, or write IOLoop.current() where no thread runs",
    ),
    "no-loop": Reason(
        "GC976",
        "the program clears the current loop for a while, or shares one between tests; "
        "IOLoop.instance() finds the program's loop even then",
        "keep the loop in a variable, and use that",
    ),
    "swapped": Reason(
        "GC974",
        "the program itself replaces {name}, or something of that name",
        "let the program replace what the converted code calls, such as "
        "IOLoop.current, and convert by hand",
    ),
    "sets-context": Reason(
        "GC975",
        "it sets a context variable, which its caller would no longer see",
        "return the value, or set the variable in the caller",
    ),
    "io-loop": Reason(
        "GC951",
        "`{name}` may be another loop than the current one",
        "Tornado 5 removed the argument: leave it out if that loop runs this code; "
        "otherwise start this on that loop, with its add_callback",
    ),
    "unfinished": Reason(
        "GC952",
        "not every path through it certainly finishes the response ({name}), and a "
        "coroutine finishes it when it ends",
        "end each path with finish() or render(), or wait for what finishes it",
    ),
    "callbacks": Reason(
        "GC953",
        "it starts a callback ({name}), whose errors a coroutine does not get",
        "yield a Future of what it starts, or start it with "
        "IOLoop.current().spawn_callback() if its errors need only be logged",
    ),
    "decorator-above": Reason(
        "GC971",
        "its decorator {name} gets the Future of a coroutine, and got None before",
        "let the decorator return what the function returns, and convert again",
    ),
    "handler-used": Reason(
        "GC973",
        "the program itself uses it ({name}), and a coroutine returns a Future, not None",
        "move what is needed there into a method of its own, call that, and convert "
        "again",
    ),
    "callback-style": Reason(
        "GC954",
        "it is not a coroutine: its callbacks answer the request",
        "write @gen.coroutine in the place of @web.asynchronous, yield the call "
        "without its callback, and pass the result to the method that was the "
        "callback",
    ),
    "callback-use": Reason(
        "GC955",
        "not every path through it certainly ends with its callback, which must be the last "
        "parameter",
        "decorate it with @gen.coroutine, and return the result instead of passing it "
        "to the callback",
    ),
    "engine-alone": Reason(
        "GC972",
        "it has no callback, and its errors go to what starts it ({name})",
        "start it with IOLoop.spawn_callback, or make it a coroutine and yield it",
    ),
    "used-otherwise": Reason(
        "GC956",
        "it is used in another way than with gen.Task ({name})",
        "yield `gen.Task(function, ...)` there, in a coroutine, and convert again",
    ),
    "task": Reason(
        "GC957",
        "{name} is not certainly a coroutine of the program",
        "yield its call if it returns a Future; otherwise make a Future, pass its "
        "set_result as the callback, and yield the Future",
    ),
    "callback-value": Reason(
        "GC958",
        "the callback `{name}` may be None, or may be replaced before it is called, or the call "
        "that gets it is a part of an expression",
        "make the call a statement, and pass a function or method of this module, a lambda of "
        "one parameter, or a functools.partial of one of these with plain names",
    ),
    "context": Reason(
        "GC959",
        "it leaves or passes on stack contexts, and the program may have some ({name})",
        "replace those with context variables or `try` statements first, and convert again",
    ),
    "library-callback": Reason(
        "GC960",
        "{name} gives an error to its callback in another way than its Future raises it",
        "yield the call without its callback, and catch the error that it raises there",
    ),
    "key": Reason(
        "GC961",
        "{name} waits for a callback by its key",
        "keep the Future that the call returns, or make one and pass its set_result "
        "as the callback; yield it where you wait",
    ),
    "yield-point-class": Reason(
        "GC962",
        "only a generator coroutine can wait for {name}",
        "write a function that returns a Future in its place",
    ),
    "arguments": Reason(
        "GC963",
        "{name} has the arguments of a callback, and a Future has one result",
        "let the function return a tuple, and unpack it where it is yielded",
    ),
    "return-future": Reason(
        "GC964",
        "{name} gives the function a callback for its result",
        "make it a coroutine, and return the result",
    ),
    "stack-contexts": Reason(
        "GC965",
        "{name} applies to callbacks, and today's Tornado has no stack contexts",
        "use a context variable, or `try` around what is yielded",
    ),
    "future-kept": Reason(
        "GC967",
        "its Future is not yielded at once ({name}), and the call itself raises its errors, "
        "as that of a coroutine does not",
        "yield the call at once, or check that no error is caught where it is called",
    ),
    "wait": Reason(
        "GC968",
        "it is not certain that a `gen_test` would do the same ({name})",
        "decorate the test with @gen_test, and yield a Future of what it waits for "
        "instead of calling self.wait()",
    ),
    "test-era": Reason(
        "GC969",
        "the module stays: with gencoro.compat, an error in a callback fails tests such as "
        "{name}(), and a failed fetch gives them a response, only if their module uses "
        "something of Tornado 5",
        "convert with GC117 too, or let the tests yield what they wait for",
    ),
    "used-in-test": Reason(
        "GC970",
        "it is used in {name}, which stays as it is",
        "see the reason there",
    ),
    "removed": Reason(
        "GC966",
        "today's Tornado does not have {name}",
        "see `python -m gencoro doctor`, which says what to use",
    ),
}


def refusal(
    function: Function, reason: str, node: ast.AST | None = None, name: str = ""
) -> Refusal:
    """Return the refusal of a function.

    Args:
        reason: A key of `REASONS`.
        node: The place of the reason; None for the function itself.
        name: What the sentence names.
    """
    found = REASONS[reason]
    line = getattr(node, "lineno", function.line)
    why = found.why.replace("{name}", _short(name))
    return Refusal(function.module.path, line, found.code, why, found.advice, function)


def _short(text: str, length: int = 60) -> str:
    """Return a text on one line, shortened if it is long."""
    text = " ".join(text.split())
    return text if len(text) <= length else f"{text[: length - 3]}..."
