"""Exports of tables.

- `urls`: every URL, with its state
"""
