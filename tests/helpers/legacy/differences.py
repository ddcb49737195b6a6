"""Intentional differences from Tornado 4.5.3, and why.

Each entry says what gencoro does and why that is right, and names the golden programs that
show it.  Their traces are in ``golden/traces/gencoro.json``, which ``golden/record.py``
writes.  Any other difference is a fault; and a program that does not differ any more must
leave this table.
"""

from typing import NamedTuple

__all__ = ["DIFFERENCES", "reasons"]


class Difference(NamedTuple):
    """One reason to differ.

    Attributes:
        reason: What gencoro does, and why.
        programs: The golden programs that show it.
    """

    reason: str
    programs: tuple[str, ...]


DIFFERENCES = (
    Difference(
        "The Future of a coroutine or a list is asyncio's, which calls back in the next "
        "turn of the loop, and not within set_result.  Await and gather take it as it is.",
        (
            "callback_argument_is_called_after_the_last_step",
            "child_coroutines_keep_the_contexts_of_their_calls",
            "list_is_given_in_its_own_order_after_the_last_child",
        ),
    ),
    Difference(
        "Unretrieved errors are logged by asyncio, to its own logger.  Results of executors "
        "are asyncio Futures too; only the dummy executor returns one of "
        "concurrent.futures, as all other executors do.",
        (
            "coroutine_failure_that_nobody_looks_at_is_logged",
            "dummy_executor_puts_an_error_into_the_future",
        ),
    ),
    Difference(
        "The result of another thread arrives on the loop's thread, in a later turn, as an "
        "asyncio Future, which async def can await.  Tornado 4 called back on the other "
        "thread.",
        (
            "convert_yielded_makes_futures_or_refuses",
            "executor_future_resumes_a_coroutine_like_a_future_of_the_loop",
            "maybe_future_wraps_all_that_is_no_future",
        ),
    ),
    Difference(
        "Native coroutines and other awaitables run as asyncio Tasks, which begin in the "
        "next turn.",
        (
            "coroutine_makes_the_generators_of_its_function_yieldable",
            "wrap_awaitable_makes_futures",
        ),
    ),
    Difference(
        "A body has one copy of the caller's context variables, from its first step to its "
        "last.  Python had none when Tornado 4 was made.",
        ("coroutine_has_one_copy_of_the_context_variables",),
    ),
    Difference(
        "Stack contexts are kept in a context variable, so they apply to native coroutines "
        "and all callbacks of asyncio, and a coroutine always resumes in its own contexts.",
        (
            "done_callback_of_a_future_does_not_keep_the_contexts",
            "native_coroutine_as_a_callback_has_no_contexts",
            "native_coroutine_has_the_contexts_of_the_yield",
        ),
    ),
    Difference(
        "A StackContext is not entered once more where none of the program's code would "
        "run within it, such as around the library's own timers.",
        (
            "sleep_has_the_contexts_of_its_call",
            "yield_points_put_a_handler_around_the_coroutine_to_its_end",
        ),
    ),
    Difference(
        "A yield in the with block of a context raises an error once, at that yield, and the "
        "context ends with its block.  Tornado 4 raised it at another yield, returned the "
        "result of another Future, or left the context active for the caller.",
        (
            "context_entered_within_itself_is_inconsistent",
            "context_that_is_never_left_is_noticed_at_a_yield_only",
            "inconsistency_caught_at_a_later_step_gives_the_wrong_result",
            "inconsistency_caught_at_the_first_step_comes_again_at_the_next_yield",
            "yield_within_a_handler_is_handled_there",
        ),
    ),
    Difference(
        "Where a context cannot be entered again, the function is not called, no context "
        "inside of that one is entered, and each that was entered is left.",
        ("context_that_failed_on_entry_again_is_left_instead_of_the_first",),
    ),
    Difference(
        "Cancelling the Future of a coroutine, or closing the loop, cancels the coroutine "
        "and what it waits for, and the garbage collector closes a coroutine that can never "
        "resume.  In Tornado 4 cancel() did nothing, and such coroutines were kept for ever.",
        (
            "cancelled_coroutine_fails_later",
            "cancelled_coroutine_goes_on_through_further_waits_and_children",
            "cancelled_coroutine_leaves_the_future_alone_that_it_waits_for",
            "chain_future_from_a_cancelled_executor_future",
            "closed_loop_leaves_the_futures_alone_that_coroutines_wait_for",
            "coroutine_cancels_itself",
            "coroutine_that_nothing_can_resume_is_closed_when_it_is_dropped",
            "coroutine_that_waits_for_a_list_is_cancelled",
            "coroutine_waits_for_one_that_is_cancelled",
            "coroutine_whose_future_is_cancelled_goes_on_to_its_end",
            "future_cannot_be_cancelled",
            "list_and_time_limit_are_cancelled",
        ),
    ),
    Difference(
        "A done Future keeps its outcome: a second result or error is refused, and an error "
        "that comes too late is passed to the caller's context itself, not a TypeError.",
        (
            "return_future_error_later_after_the_call_back",
            "return_future_that_fails_twice_later",
        ),
    ),
    Difference(
        "The argument callback= is passed to a function that declares it, as in Tornado 6; "
        "otherwise the coroutine calls it with the result.  callback=None has no effect, and "
        "a callback without arguments gives None, where Tornado 4 gave a private object.",
        ("return_future_called_back_with_nothing_gives_the_caller_nothing",),
    ),
    Difference(
        "A coroutine that forgets a Callback fails with LeakedCallbackError; in Tornado 4 "
        "its Future was never done.  The error of an engine goes to the context of its call, "
        "not to the code that has resumed it.",
        (
            "leaked_callback_after_an_error_of_the_body",
            "leaked_callback_of_a_coroutine_that_is_waited_for",
        ),
    ),
    Difference(
        "A key that is not known, or whose result was taken or has not come, is always an "
        "UnknownKeyError, and never a KeyError out of the Runner's own sets; and a callback "
        "answers the Wait for its key only.",
        (
            "runner_refuses_keys_that_are_taken_or_not_known",
            "wait_all_of_one_key_twice",
            "yield_point_twice_in_one_list",
        ),
    ),
    Difference(
        "YieldPoints may stand in lists at any depth; Tornado 4 looked at one level, and "
        "the rest met an assert.",
        ("list_with_a_yield_point_holds_another_two_levels_deeper",),
    ),
    Difference(
        "Any error of a yielded object is raised at the yield.  Tornado 4 raised it in the "
        "code that had called or resumed the coroutine, which then never ended.",
        (
            "convert_yielded_by_a_function_that_fails",
            "list_with_a_yield_point_refuses_what_cannot_be_yielded",
            "yield_point_that_fails_when_its_result_is_set",
        ),
    ),
    Difference(
        "YieldPoints, and lists of them, can be waited for only by a Runner, and raise a "
        "BadYieldError elsewhere; and multi_future is multi.",
        (
            "list_of_yield_points_can_be_converted_but_not_timed",
            "yield_points_cannot_be_converted",
        ),
    ),
    Difference(
        "KeyboardInterrupt and SystemExit leave the loop, which can be used again, and are "
        "stored in the coroutine's Future.  Any other error of a body stays in "
        "its Future, as with asyncio.Task, and that of a callback is logged; the other "
        "callbacks are called in each case.",
        (
            "coroutine_lets_ctrl_c_out_before_and_after_the_first_wait",
            "future_callback_that_raises_what_is_no_exception",
            "run_sync_is_left_by_a_callback",
            "run_sync_is_left_by_what_is_no_exception",
        ),
    ),
    Difference(
        "run_sync cancels what takes too long, says that it was stopped, refuses what it "
        "cannot do before anything is called, and leaves nothing behind that would stop "
        "the next one.",
        (
            "run_sync_beside_a_coroutine_that_timed_out_before",
            "run_sync_inside_the_running_loop",
            "run_sync_on_a_loop_that_is_stopped_meanwhile",
            "run_sync_times_out_and_its_coroutine_goes_on",
        ),
    ),
    Difference(
        "Which loop is current is asyncio's affair, as in Tornado 5 and 6: a new loop "
        "becomes current, as does one that is installed; a closed one is not any more; "
        "and instance() is the current one where there is one.",
        (
            "installed_loop_is_the_instance",
            "instance_beside_a_current_loop",
            "new_loop_becomes_current_only_where_there_is_none",
            "new_loop_that_has_to_be_current_is_refused_beside_another",
        ),
    ),
    Difference(
        "The loop below is asyncio's, with its clock and its rules: one loop runs in a "
        "thread, stop() before start() lets one turn run, what is overdue is called in the "
        "order of adding, a closed loop refuses callbacks, and no error ends it.",
        (
            "loops_started_inside_a_running_one",
            "what_can_not_be_called_is_refused_or_logged",
        ),
    ),
    Difference(
        "asyncio reports reading and writing in separate calls, and a closed peer as "
        "readable.  A refused handler does not replace another one, and every error of a "
        "handler is logged, a broken pipe too.",
        ("handler_that_fails_with_a_broken_pipe",),
    ),
    Difference(
        "A PeriodicCallback belongs to the loop of its start, ticks once each time however "
        "often it was started, waits for a coroutine before it calls again, and takes a "
        "timedelta, as in Tornado 6.",
        ("periodic_callback_refuses_times_that_are_not_positive",),
    ),
    Difference(
        "The decorator refuses a coroutine, and the function that it wraps is none of generators"
        " to frameworks that ask.",
        ("coroutine_looks_like_its_function",),
    ),
    Difference(
        "run_on_executor needs no io_loop, and wrong arguments are a TypeError.",
        (
            "run_on_executor_is_misused",
            "run_on_executor_needs_the_attributes_that_it_uses",
        ),
    ),
    Difference(
        "A WaitIterator returns a Future as often as it was passed, and raises an error "
        "when there are no more, where Tornado 4 waited for ever.",
        (
            "wait_iterator_is_done_when_all_was_given",
            "wait_iterator_of_one_future_twice",
        ),
    ),
    Difference(
        "Each error has one class, derived from GencoroError or Python's own TimeoutError; "
        "gen.Future is asyncio's, and TracebackFuture another class; moments are no "
        "Futures; and replacing a name of the facade gen does not change gencoro itself.",
        (
            "gen_errors_are_plain_exceptions",
            "gen_errors_have_namesakes_elsewhere",
            "gen_has_the_names_of_its_neighbors",
        ),
    ),
)


def reasons() -> dict[str, str]:
    """Return why each program that differs does so, by its name."""
    return {
        name: difference.reason
        for difference in DIFFERENCES
        for name in difference.programs
    }
