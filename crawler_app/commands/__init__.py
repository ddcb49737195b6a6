"""The commands of the command line; `crawler_app.commands.main` parses and runs them.

One module per command, whose function takes the parsed arguments and returns the exit
status: `crawl` (and resume), `check`, `report`, `status`, `search`, `export`, `work`, `frontier` (and
crawls and drop), `demo` with its `demo_site`, `completion` for shells, `manual`, the manual page.
They share::

    main            the command line
    parser          parses it; errors in our own words
    described       the commands and options as plain values
    arguments       arguments of several commands
    config_options  the options of a crawl
    exit_status     what a command returns
    interruptible   runs a coroutine so that Ctrl-C loses nothing
    bug_report      asks for a report of a bug of ours
    showing         shows a crawl and its end, also on the dashboard
    summary_text    the summary, for a terminal
    server          arguments of the commands that use a server, and its driver
    verbose         the log of every request, for --verbose
"""
