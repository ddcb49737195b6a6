"""Which methods a call may run."""

from tests.helpers.porting.converting import converted, reasons

HEAD = """\
from tornado import gen

class Base(object):
    @gen.coroutine
    def load(self): yield None

    def start(self):
        self.load()
"""


def test_method_that_overrides_one_that_is_dropped_stays():
    source = (
        HEAD
        + "class Child(Base):\n    @gen.coroutine\n    def load(self): yield None\n"
    )

    assert reasons(source) == {"Base.load": "dropped", "Child.load": "dropped"}


def test_method_of_another_class_does_not():
    source = (
        HEAD
        + "class Other(object):\n    @gen.coroutine\n    def load(self): yield None\n"
    )

    assert reasons(source) == {"Base.load": "dropped"}


def test_call_on_an_object_runs_the_method_of_its_class():
    source = """\
from tornado import gen

class Base(object):
    @gen.coroutine
    def load(self): yield None

class Child(Base):
    @gen.coroutine
    def load(self): yield None

child = Child()
child.load()
"""

    assert reasons(source) == {"Child.load": "dropped"}


def test_method_of_a_mixin_is_found_by_way_of_its_heir():
    source = """\
from tornado import gen

class Mixin(object):
    def start(self):
        self.load()

class Store(object):
    @gen.coroutine
    def load(self): yield None

class Both(Mixin, Store):
    pass
"""

    assert reasons(source) == {"Store.load": "dropped"}


def test_value_that_an_override_makes_none_is_converted():
    text = converted(
        """\
from tornado import gen

class Base(object):
    def prepare(self):
        pass

    @gen.coroutine
    def run(self):
        yield self.prepare()

class Child(Base):
    @gen.coroutine
    def prepare(self): yield None
"""
    )

    assert "        await gen.convert_yielded(self.prepare())\n" in text
