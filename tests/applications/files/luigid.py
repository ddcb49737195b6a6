"""What the command luigid does."""

from luigi.cmdline import luigid

luigid()
