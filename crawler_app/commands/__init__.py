"""The commands of the command line; `crawler_app.commands.main` parses and runs them.

One module per command, whose function takes the parsed arguments and returns the exit
status: `crawl` (and resume), `check`, `report`, `status`, `search`, `export`, `demo` with its
`demo_site`.  They share::

    main            the command line
    arguments       arguments of several commands
    config_options  the options of a crawl
    exit_status     what a command returns
    interruptible   runs a coroutine so that Ctrl-C loses nothing
    summary_text    the summary, for a terminal
"""
