"""A WACZ file that is broken off: it is told how far it is, and never looks whole."""

import io
import zipfile

import pytest

from crawler_app.archive.wacz import write_wacz

STAGES = ("copying megabytes", "indexing captures", "listing pages of captures")


@pytest.fixture
def archived(open_archive, exchange, now, tmp_path):
    """A directory with an archive of three captures."""
    archive = open_archive()
    for number in range(3):
        archive.write(exchange(f"http://a.test/{number}"), now + number)
    archive.close()
    return tmp_path


def test_every_stage_is_told(archived):
    told = []

    write_wacz(
        archived, io.BytesIO(), software="test", on_step=lambda *done: told.append(done)
    )

    assert list(dict.fromkeys(what for what, *_ in told)) == list(STAGES)
    assert [done for done in told if done[0] == STAGES[2]] == [
        (STAGES[2], number, 3) for number in range(3)
    ]
    assert (STAGES[1], 3, 3) in told


@pytest.mark.parametrize("last_stage", STAGES)
def test_package_that_is_broken_off_is_no_zip_file(archived, package_file, last_stage):
    def tell(what, done, total):
        if what == last_stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_wacz(archived, package_file, software="test", on_step=tell)

    assert package_file.getvalue()
    assert not zipfile.is_zipfile(io.BytesIO(package_file.getvalue()))
