"""The survey copes with objects that are only partly initialized."""

from gencoro.introspect.survey import copied, in_cell


def test_collection_that_changes_meanwhile_is_copied_again():
    class Changing:
        tries = 0

        def __iter__(self):
            self.tries += 1
            yield 1
            if self.tries < 3:
                raise RuntimeError("changed size during iteration")

    assert copied(Changing()) == [1]


def test_cell_that_is_not_set_yet_is_worth_nothing():
    def look():
        return in_cell(lambda: later, "later")

    before = look()
    later = 42

    assert (before, look()) == (None, 42)


def test_variable_that_a_function_does_not_have_is_worth_nothing():
    assert in_cell(lambda: None, "other") is None
