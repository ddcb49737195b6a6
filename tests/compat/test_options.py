"""tornado.options and tornado.log as code of Tornado 2 to 4 uses them."""

import logging

import pytest
from tornado.log import LogFormatter

from tests.helpers.compat.rows import uses


@pytest.fixture
def root_logger():
    """The root logger, which is put back."""
    logger = logging.getLogger()
    level, handlers = logger.level, logger.handlers[:]
    yield logger
    logger.setLevel(level)
    logger.handlers[:] = handlers


@pytest.fixture
def record():
    """A record of an error."""
    return logging.LogRecord("a", logging.ERROR, "a.py", 1, "it fails", (), None)


@uses("tornado.options._Options")
def test_options_of_ones_own(compat):
    from tornado.options import _Options, options

    own = _Options()
    own.define("port", default=80)
    own.define("help", default=False)
    rest = own.parse_command_line(["program", "--port=443", "rest"])

    assert own.port == own["port"] == 443
    assert rest == ["rest"]
    assert "port" in own
    assert "logging" not in own
    assert _Options.instance() is options


def test_options_of_ones_own_set_up_logging(compat, root_logger):
    from tornado.options import _Options

    own = _Options()
    own.define("logging", default="none")
    root_logger.handlers.clear()
    own.parse_command_line(["program"])
    assert root_logger.handlers == []
    own.parse_command_line(["program", "--logging=error"])

    assert type(root_logger.handlers[0].formatter) is LogFormatter
    assert root_logger.level == logging.ERROR


def test_options_of_ones_own_print_help(compat, capsys):
    from tornado.options import _Options

    own = _Options()
    own.define("help", type=bool)
    own.define("port", default=80, help="where to listen")

    with pytest.raises(SystemExit):
        own.parse_command_line(["program", "--help"])
    assert "where to listen" in capsys.readouterr().err


@uses("tornado.options.enable_pretty_logging", "tornado.options._LogFormatter")
def test_logging_where_it_was_in_tornado_2(compat, root_logger):
    from tornado.options import _LogFormatter, enable_pretty_logging, options

    root_logger.handlers.clear()
    enable_pretty_logging(options)

    (handler,) = root_logger.handlers
    assert type(handler.formatter) is _LogFormatter is LogFormatter


@uses("tornado.log.LogFormatter.__init__")
@pytest.mark.parametrize("color", [False, True])
def test_color_came_first(compat, record, color):
    formatter = LogFormatter(color, "%(message)s at %(asctime)s", "then", {})

    assert formatter.format(record) == "it fails at then"
    assert LogFormatter(color).format(record).endswith("it fails")


def test_format_comes_first(compat, record):
    assert LogFormatter("<%(message)s>").format(record) == "<it fails>"
    assert LogFormatter("%(asctime)s", "then").format(record) == "then"
    assert LogFormatter(color=False, fmt="%(message)s").format(record) == "it fails"
