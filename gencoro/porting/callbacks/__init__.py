"""Analysis of callback-style code, and what replaces it.

Rule: what may start a callback counts, wherever it is in the program.

Inside::

    legacy               analysis and changes that several fixers need
    callback_functions   functions that take a callback
    tail_calls           their last statements, and what these become
    control_flow         how the paths through a function end
    callback_starts      what in a function may start a callback
    lone_engines         engines without a callback, and what starts them
    awaitable_calls      calls with a callback that can return a Future instead
    kept_values          values that are the same after a wait
    delayed_callbacks    callbacks that the loop gets with their values
    loops                what starts threads, or makes another loop the current one
    current_loops        loops that certainly are the current one
    timers               timers of the loop, and how long they run
    fetches              fetches with a callback
    future_callbacks     callbacks that the loop calls with the result of a Future
    keys                 gen.Callback and gen.Wait
    answering_callbacks  callbacks that finish the response of a request
    quiet_statements     statements that raise no error
    request_handlers     request handlers that answer in a callback
    finished_answers     what certainly finishes the answer of a handler
    waits                stop() and wait() of tests
    engines_of_tests     engines inside tests that stop them
    modernized_tests     tests that would fail differently once their module is converted
    remaining            callback style that no fixer has converted
"""
