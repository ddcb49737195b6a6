"""Reads what is served to Prometheus."""

from prometheus_client import parser

__all__ = ["values_in"]


def values_in(text, parse=parser.text_string_to_metric_families):
    """Read the text; return each value by its name and labels."""
    families = list(parse(text))
    assert all(family.documentation for family in families)
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }
