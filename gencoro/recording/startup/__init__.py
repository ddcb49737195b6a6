"""A folder for PYTHONPATH: its `sitecustomize` records in every Python that starts."""

__all__: list[str] = []
