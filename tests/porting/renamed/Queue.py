"""The name of `queue` in Python 2, which tests of that time import."""

from queue import *
