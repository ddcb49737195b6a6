"""What a converted coroutine says that it returns."""

import pytest

from tests.helpers.porting.converting import HEAD, converted


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (" -> Generator[Any, Any, int]", " -> int"),
        (' -> "gen.Future[int]"', " -> 'int'"),
        (" -> Awaitable[int]", " -> int"),
        (" -> Generator", ""),
        (" -> int", " -> int"),
        ("", ""),
    ],
)
def test_annotation(before, after):
    text = converted(
        f"{HEAD}@gen.coroutine\ndef f(){before}:\n    yield gen.sleep(1)\n"
    )

    assert f"async def f(){after}:\n" in text


def test_type_comment():
    text = converted(
        HEAD,
        """\
        @gen.coroutine
        def f(x):
            # type: (int) -> Generator[Any, Any, str]
            yield gen.sleep(1)
        """,
    )

    assert "    # type: (int) -> str\n" in text
