"""What a rewrite of Tornado's coroutines gets wrong: facts, and programs that show them."""

__all__ = ["TRAPS"]

TRAPS = {
    # Futures.
    "a callback-era Future calls back within set_result, in order, and logs what fails": (
        "future_callback_added_to_a_done_one_runs_at_once",
        "future_callback_that_fails_is_logged_and_the_others_run",
        "future_callbacks_run_inside_set_result_in_their_order",
    ),
    "such a Future can be made where no loop is, and waited for later": (
        "future_made_before_there_is_a_loop_is_waited_for_on_it",
        "future_works_where_no_loop_is",
    ),
    "add_future calls back in a later turn, also with a Future that is done": (
        "add_future_calls_back_in_the_turn_after_it_is_set",
        "add_future_calls_back_later_although_it_is_done",
    ),
    "an error that nobody has looked at is logged when its Future is thrown away": (
        "coroutine_failure_that_nobody_looks_at_is_logged",
        "future_failure_nobody_looked_at_is_logged_when_it_is_dropped",
        "future_failure_somebody_looked_at_is_not_logged",
        "return_future_failure_that_nobody_looks_at_is_logged",
    ),
    "cancelling a Future reaches what will never be asked for again, or does nothing": (
        "chain_future_from_a_cancelled_executor_future",
        "coroutine_whose_future_is_cancelled_goes_on_to_its_end",
        "future_cannot_be_cancelled",
        "run_on_executor_is_cancelled_before_it_begins",
    ),
    # Coroutines and their Runner.
    "a body begins at its call, and what never waits is done without a turn of the loop": (
        "coroutine_begins_at_the_call_and_stops_at_the_first_pending_future",
        "coroutine_that_only_yields_done_futures_is_done_at_once",
    ),
    "what is ready is taken in a loop and not by recursion": (
        "coroutine_that_only_yields_done_futures_is_done_at_once",
        "thousands_of_waits_that_are_ready_do_not_recurse",
        "thousands_of_yields_that_are_ready_do_not_recurse",
    ),
    "a generator that runs is not entered again, whatever its body calls back": (
        "callback_called_by_its_own_body_does_not_reenter_it",
        "coroutines_that_resume_each_other_by_callbacks",
        "runner_is_not_entered_again_while_it_runs",
    ),
    "an error that is thrown in is no __context__ of later ones, and sys.exc_info is the "
    "body's own": (
        "coroutine_errors_have_no_context_that_they_did_not_arise_in",
        "coroutine_keeps_the_error_it_handles_over_a_wait",
        "coroutine_resumed_in_a_handler_sees_the_error_that_is_handled_there",
    ),
    "what has ended is freed at once, without the garbage collector": (
        "coroutines_that_waited_for_each_other_are_freed_at_once",
        "ended_coroutine_is_freed_at_once",
        "ended_engine_is_freed_at_once",
        "failed_coroutine_is_freed_with_its_future",
    ),
    "what is suspended lives while somebody can resume it or holds its result, no longer": (
        "coroutine_that_nothing_can_resume_is_closed_when_it_is_dropped",
        "suspended_coroutine_lives_as_long_as_its_result_is_held",
        "suspended_coroutine_lives_as_long_as_the_future_that_it_waits_for",
    ),
    "a body has one copy of the context variables, from its first step to its last": (
        "coroutine_has_one_copy_of_the_context_variables",
    ),
    "a decorated function looks like the one it wraps, of whatever kind that is": (
        "coroutine_decorates_methods_of_all_kinds",
        "coroutine_functions_are_told_by_their_mark",
        "coroutine_looks_like_its_function",
        "coroutine_of_a_plain_function_is_done_at_once",
    ),
    "await takes the undecorated generators of a decorated function": (
        "coroutine_makes_the_generators_of_its_function_awaitable",
    ),
    "Ctrl-C leaves the loop, and the Runner consistent": (
        "coroutine_lets_ctrl_c_out_before_and_after_the_first_wait",
        "run_sync_is_left_by_what_is_no_exception",
        "runner_is_consistent_after_a_base_exception",
        "signal_interrupts_run_sync_and_its_coroutine_cleans_up",
    ),
    "callback= is called through the loop, in the caller's contexts, on success only": (
        "callback_argument_is_called_through_the_loop_even_when_all_is_done",
        "callback_argument_is_not_called_when_the_coroutine_fails",
        "callback_argument_runs_in_the_contexts_of_the_call_only",
    ),
    # What may be yielded.
    "moment and None cost one turn, in which timers and others run": (
        "moment_and_none_take_a_turn_each",
        "moment_lets_timers_run",
        "moment_waits_for_its_turn_among_the_callbacks",
    ),
    "what cannot be yielded is thrown in at the yield, and may be caught there": (
        "bad_yield_is_thrown_in_and_may_be_caught",
        "convert_yielded_by_a_function_that_fails",
    ),
    "whatever somebody has registered is converted, in lists too": (
        "convert_yielded_prefers_registered_types_to_what_they_are_besides",
        "convert_yielded_takes_registered_types_wherever_something_is_yielded",
    ),
    "what a thread has done arrives on the thread of the loop": (
        "executor_future_calls_the_loop_back_on_its_own_thread",
        "executor_results_come_back_to_the_thread_of_the_loop",
        "run_on_executor_works_on_a_thread_and_resumes_on_the_loop",
    ),
    "a list waits for all and fails with the first of its order; the others are logged": (
        "list_logs_its_other_failures_unless_they_are_quiet",
        "list_waits_for_all_children_and_fails_with_the_first_of_the_list",
    ),
    "a list may be empty, nested, hold None and one Future twice; a tuple is none": (
        "list_and_dict_nest",
        "list_and_dict_without_children_are_done_at_once",
        "list_of_nones_and_moments_takes_no_turn",
        "list_of_one_future_many_times",
        "tuples_sets_and_generators_are_refused_where_lists_are_taken",
    ),
    "a time-out takes back its timer, leaves the other alone, and logs its late error": (
        "with_timeout_fails_at_the_deadline_and_leaves_the_future_alone",
        "with_timeout_gives_what_comes_in_time_and_forgets_the_deadline",
        "with_timeout_logs_late_failures_unless_they_are_quiet",
    ),
    "a number is a moment, and a timedelta a length of time": (
        "deadlines_of_all_kinds",
        "with_timeout_deadline_is_a_time_of_the_loop_or_a_length",
    ),
    # The callback style.
    "an engine returns None, and fails in the contexts of its call": (
        "engine_fails_in_the_context_of_its_call_not_of_its_resumer",
        "engine_returns_none",
        "engine_sees_its_callback_however_it_is_given",
        "engine_that_returns_a_value_fails_in_its_context",
    ),
    "a Task calls its function at once; its first answer or error counts, the next error "
    "goes on": (
        "task_answered_twice_takes_the_first",
        "task_calls_its_function_when_it_is_made",
        "task_that_fails_later_after_its_answer_tells_the_context",
        "task_whose_function_fails_later_throws_at_the_yield",
    ),
    "a callback gives None, its one argument, or Arguments": (
        "argument_adapter_makes_one_argument_of_any",
        "task_result_is_none_a_value_or_arguments",
        "wait_result_is_none_a_value_or_arguments",
    ),
    "a key belongs to one Runner until it was waited for, and may be any hashable": (
        "key_that_is_not_known_or_not_any_more",
        "key_that_is_pending_cannot_be_taken_again",
        "keys_belong_to_one_call_of_one_coroutine",
        "keys_of_odd_kinds",
        "wait_takes_what_came_before_it_and_what_comes_after",
    ),
    "who ends with callbacks outstanding is told so, unless an error was thrown in": (
        "leaked_callback_after_an_error_that_was_thrown_in",
        "leaked_callback_of_a_coroutine_that_is_waited_for",
        "leaked_callback_of_an_engine_tells_its_context",
    ),
    "the first YieldPoint costs a turn and puts a handler around the body; later ones do "
    "not": (
        "error_in_a_callback_is_thrown_at_the_wait",
        "first_yield_point_costs_a_turn_and_later_ones_none",
        "first_yield_point_costs_a_turn_in_each_coroutine",
        "yield_points_put_a_handler_around_the_coroutine_to_its_end",
    ),
    "what a YieldPoint of somebody's own raises is raised at its yield": (
        "yield_point_that_fails_throws_at_its_yield",
        "yield_point_that_fails_when_its_callback_is_called",
    ),
    "a list with a YieldPoint starts its children in order, nested ones too": (
        "list_with_a_yield_point_starts_its_children_in_order",
        "lists_nested_in_a_list_with_a_yield_point_in_each",
    ),
    "return_future raises what fails at once, and keeps what fails later": (
        "return_future_over_an_engine_that_fails_at_once_does_not_raise",
        "return_future_puts_an_error_that_comes_later_into_the_future",
        "return_future_raises_an_error_at_once_to_the_caller",
    ),
    "return_future refuses a returned value, and calls the caller back in his contexts": (
        "return_future_called_back_with_nothing_gives_the_caller_nothing",
        "return_future_calls_the_caller_back_in_the_contexts_of_the_caller",
        "return_future_of_a_function_that_returns_something_fails",
    ),
    # Contexts.
    "a yield within a context is an error, at the first step and later": (
        "yield_within_a_context_fails_at_a_later_step",
        "yield_within_a_context_fails_at_the_first_step",
        "yield_within_a_context_fails_when_it_need_not_wait",
    ),
    "handlers are asked from the inside; what one of them raises goes to the outer ones": (
        "handler_consumes_with_any_true_value",
        "handler_that_raises_replaces_the_error_for_outer_handlers",
        "handlers_are_asked_from_the_inside_until_one_consumes",
    ),
    "a StackContext cannot swallow an error; where it cannot be entered nothing is called": (
        "context_that_fails_on_entry_again_goes_to_the_handlers_around_it",
        "contexts_see_an_error_but_cannot_swallow_it",
    ),
    "what is wrapped has the contexts of its wrapping, though these were none": (
        "call_wrapped_within_no_contexts_has_none",
        "wrapped_call_has_the_contexts_of_wrapping_not_of_calling",
        "wrapped_call_restores_the_state_after_errors_and_misuse",
    ),
    "contexts that were deactivated do not pile up": (
        "deactivated_context_is_left_out_of_later_calls",
        "deactivated_contexts_do_not_pile_up_over_calls",
    ),
    "callbacks, timers, handlers and periodic callbacks keep the contexts": (
        "add_callback_keeps_the_contexts_and_the_order",
        "add_future_keeps_the_contexts_of_adding_not_of_resolving",
        "handler_of_a_socket_keeps_the_contexts_at_each_event",
        "periodic_callback_keeps_the_contexts_of_its_start",
        "timers_keep_the_contexts",
    ),
    "what is spawned, or comes from a signal or a thread, has no contexts": (
        "callback_from_a_thread_has_the_contexts_of_the_thread",
        "executor_starts_without_contexts_and_its_future_returns_to_them",
        "run_on_executor_works_in_no_context",
        "spawned_callbacks_have_no_contexts",
    ),
    "contexts reach native coroutines": (
        "native_coroutine_as_a_callback_has_no_contexts",
        "native_coroutine_has_the_contexts_of_the_yield",
    ),
    # The loop.
    "a coroutine that was added as a callback fails audibly": (
        "callback_argument_that_is_a_coroutine_has_its_failure_logged",
        "callback_returning_a_failing_coroutine_is_logged",
        "callback_returning_a_native_coroutine_runs_it",
    ),
    "a callback that returns an empty container lets the loop rest": (
        "callback_returning_an_empty_container_lets_the_loop_rest",
    ),
    "run_sync can be called again and again, on any thread, but not inside a running loop": (
        "run_sync_again_and_again_while_others_go_on",
        "run_sync_inside_the_running_loop",
        "run_sync_on_a_thread_with_its_own_loop",
    ),
    "run_sync stops its own loop only once, and leaves no timer": (
        "run_sync_beside_a_coroutine_that_timed_out_before",
        "run_sync_within_its_time_leaves_no_timer",
    ),
    "a thread without a loop finds that of the program": (
        "thread_asks_for_the_instance_of_the_main_thread",
        "thread_without_a_loop_asks_for_the_current_one",
    ),
    "handle_callback_exception can be overridden on one loop": (
        "overridden_handler_of_errors_and_those_of_handlers",
        "overridden_handler_of_errors_sees_those_of_all_callbacks",
    ),
}
