"""Named stack contexts for the golden programs."""


class NamedContexts:
    """Makes contexts that note what befalls them, and tells which of them are on."""

    def __init__(self, stage):
        self.stage = stage
        self._name_by_context = {}

    def named(self, name, context):
        """Give any context a name; return it."""
        self._name_by_context[context] = name
        return context

    def context(self, name, swallows=False):
        """Return a StackContext that notes when it is entered and left."""
        note = self.stage.note

        def factory():
            return _Noting(note, name, swallows)

        return self.named(name, self.stage.stack_context.StackContext(factory))

    def handler(self, name, consumes=False, then=None):
        """Return an ExceptionStackContext that notes what it is asked to handle.

        It may do something more, which may raise.
        """

        def handle(typ, value, tb):
            self.stage.note(name, "handles", value)
            if then is not None:
                then()
            return consumes

        context = self.stage.stack_context.ExceptionStackContext(handle)
        return self.named(name, context)

    def on(self):
        """Tell the contexts of this thread: those to enter, and all from the head."""
        stack, head = self.stage.stack_context._state.contexts
        chain = []
        while head is not None:
            chain.append(head)
            head = head.old_contexts[1]
        return f"<{self._told(stack)}|{self._told(chain)}>"

    def noting(self, *things):
        """Return a callback that notes these things and the contexts it has."""
        return lambda *ignored: self.stage.note(*(things + (self.on(),)))

    def _told(self, contexts):
        return " ".join(self._name_by_context.get(x, "other") for x in contexts)


class _Noting:
    def __init__(self, note, name, swallows):
        self.note = note
        self.name = name
        self.swallows = swallows

    def __enter__(self):
        self.note("enter", self.name)

    def __exit__(self, typ, value, tb):
        self.note("exit", self.name, *([value] if typ else []))
        return self.swallows
