"""The commands of the command line; `crawler_app.commands.main` parses and runs them.

One module per command: its function takes the parsed arguments and returns the exit
status.
"""
