"""The pictures of the start page can be taken again."""

from docs import screenshots


def test_pictures_are_taken(tmp_path):
    screenshots.main(tmp_path, screenshots.SLOWLY | {"host_gap_s": 0.0})

    pictures = [tmp_path / "dashboard.webp", tmp_path / "report.webp"]
    assert sorted(tmp_path.iterdir()) == pictures
    for path in pictures:
        assert path.read_bytes()[8:12] == b"WEBP"
        assert 10_000 < path.stat().st_size < 100_000
