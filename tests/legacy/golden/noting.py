"""Records results and errors for the golden programs."""


def handler(stage, name, consumes):
    """Return an exception context that notes what reaches it."""

    def handle(typ, value, tb):
        stage.note(name, "got", value)
        return consumes

    return stage.stack_context.ExceptionStackContext(handle)


def tried(stage, yielded):
    """Wait for something and note what it gives or throws."""
    try:
        result = yield yielded
    except Exception as exc:
        stage.note("caught", exc)
    else:
        stage.note("got", result)


def note_refusal(stage, function, *args, **kwargs):
    """Note whether this is refused; with which words is the library's affair."""
    try:
        function(*args, **kwargs)
    except Exception as exc:
        stage.note("refused", type(exc))
    else:
        stage.note("accepted")


def note_whether_refused(stage, function, *args):
    """Note whether this is refused; with which error is the library's affair."""
    try:
        function(*args)
    except Exception:
        stage.note("refused")
    else:
        stage.note("accepted")
