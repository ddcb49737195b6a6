"""A WACZ file without a copy of the archive is the same as one with it."""

import io
import zipfile

import pytest

from crawler_app.show.browse.sparse_file import SparseFile
from crawler_app.store.archive.wacz import write_wacz


def test_wacz_is_the_same_as_a_copy(site, cli, directory):
    site.page("/", "/b", title="Home")
    site.answer("/b", b"<p>" + b"words " * 1000)
    assert cli("crawl").status == 0
    copy, options = io.BytesIO(), {"software": "x", "now": 10**9, "secret_headers": ()}
    write_wacz(directory, copy, **options)

    with SparseFile() as sparse:
        write_wacz(directory, sparse, **options)
        data = b"".join(sparse.pieces(0, sparse.size_bytes))
        middle = len(data) // 2
        pieces = [b"".join(sparse.pieces(at, at + 7)) for at in (0, 60, middle)]
        archive = next(directory.glob("*.warc.gz"))
        archive.write_bytes(b"")
        with pytest.raises(OSError, match="has become shorter"):
            list(sparse.pieces(0, sparse.size_bytes))

    # A file that can seek has the sizes in other places.
    packages = [zipfile.ZipFile(each) for each in (copy, io.BytesIO(data))]
    contents = [
        {name: each.read(name) for name in each.namelist()} for each in packages
    ]
    assert contents[0] == contents[1]
    assert pieces == [data[at : at + 7] for at in (0, 60, middle)]
