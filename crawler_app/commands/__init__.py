"""What each command does; `crawler_app.commands.main` says how it is called.

A module a command: its function takes the parsed arguments and returns the exit status.
"""
