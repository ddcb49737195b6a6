"""The commands of the command line; `crawler_app.commands.main` parses and runs them.

One module per command, whose function takes the parsed arguments and returns the exit
status: `crawl` (and resume), `check`, `watch`, `report`, `status`, `search`, `browse`, `export`, `sql`,
`postgres` with
its `work`, `sign_key`, `demo` with its `demo_site`, and `completion` for shells.  They share::

    main               runs a command, and reports its errors
    command_table      the table of the commands, and the parser made from it
    arguments          the arguments of every command
    config_options     options that a file may set too, and how both are merged
    scheme_guess       https or http, for a start URL without a scheme
    parser             argparse, with errors in our own words
    exit_status        the exit statuses
    interruptible      runs a coroutine; Ctrl-C loses nothing
    bug_report         asks for a report of a bug of ours
    output_file        output files: complete, or unchanged
    stored_crawl       opens the crawl that a command reads
    live_view          shows a crawl and its end, also on the dashboard
    summary_text       the summary, for a terminal
    verbose            the log of every request, for --verbose

Rule: the modules of a command are imported when it runs, and its arguments are added when
they are parsed, so that the program starts fast.
"""
