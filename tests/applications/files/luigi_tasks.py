"""Two tasks of luigi, one of which requires the other."""

import sys

import luigi


class Boil(luigi.Task):
    def output(self):
        return luigi.LocalTarget("boil")

    def run(self):
        with self.output().open("w") as file:
            file.write("hot")


class Brew(luigi.Task):
    def requires(self):
        return Boil()

    def output(self):
        return luigi.LocalTarget("brew")

    def run(self):
        with self.input().open() as water, self.output().open("w") as file:
            file.write(water.read() + " tea")


if __name__ == "__main__":
    luigi.run(["Brew", "--scheduler-host=127.0.0.1", *sys.argv[1:]])
