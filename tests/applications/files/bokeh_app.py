"""A slider that moves a line: what a page of bokeh's server shows."""

from bokeh.layouts import column
from bokeh.models import ColumnDataSource, Slider
from bokeh.plotting import curdoc, figure

source = ColumnDataSource({"x": [1, 2, 3], "y": [4, 6, 5]})
plot = figure()
plot.line("x", "y", source=source)
slider = Slider(start=0, end=10, value=1, title="height")


def on_change(attr, old, new):
    source.data = {"x": [1, 2, 3], "y": [new] * 3}


slider.on_change("value", on_change)
curdoc().add_root(column(slider, plot))
