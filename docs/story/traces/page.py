"""Writes the page on which a reader steps through the recorded traces, as HTML.

Pure: traces in, text out.  ``static/stepper.js`` makes it work; without it nothing of this is
shown, and the page has the pictures.
"""

import json
from typing import Any

from recorder import Step, Trace

__all__ = ["render"]

PAGE = """\
<div class="stepper" hidden>
<p>
<label for="stepper-program">Program</label>
<select id="stepper-program"></select>
</p>
<div class="stepper-buttons" role="group" aria-label="Move through the recording">
<button type="button" data-go="first">First</button>
<button type="button" data-go="turn-back">Previous turn</button>
<button type="button" data-go="back">Back</button>
<button type="button" data-go="next">Next</button>
<button type="button" data-go="turn">Next turn</button>
</div>
<p class="stepper-place" role="status"></p>
<div class="stepper-panes">
<div>
<h2 id="stepper-code-title">Code</h2>
<p class="stepper-stack"></p>
<pre class="stepper-code" tabindex="0" role="region" aria-labelledby="stepper-code-title"></pre>
</div>
<div>
<h2>Queue of callbacks</h2>
<ol class="stepper-queue"></ol>
<h2>Waiting for a time or a socket</h2>
<ul class="stepper-waiting"></ul>
<h2>Coroutines</h2>
<ul class="stepper-states"></ul>
</div>
</div>
</div>
<script type="application/json" id="stepper-data">
{data}
</script>
<script src="../_static/stepper.js"></script>
"""


def render(recordings: dict[str, tuple[str, Trace]]) -> str:
    """Return the HTML of the stepper with these traces; one line for each.

    Args:
        recordings: The title and the trace of each program, by its name.
    """
    programs = [
        {"name": name, "title": title, **_packed(trace)}
        for name, (title, trace) in recordings.items()
    ]
    lines = (json.dumps(program, separators=(",", ":")) for program in programs)
    # A script ends at the first "</".
    data = "[\n" + ",\n".join(lines).replace("</", "<\\/") + "\n]"
    return PAGE.replace("{data}", data)


def _packed(trace: Trace) -> dict[str, Any]:
    """Return a trace for JSON; each text of its steps is an index into ``texts``."""
    texts: dict[str, int] = {}
    names = list(trace.sources)

    def number(text: str) -> int:
        return texts.setdefault(text, len(texts))

    def packed(step: Step) -> list[Any]:
        return [
            step.turn,
            step.at_s,
            [(names.index(name), line) for name, line in step.stack],
            number(step.note),
            [number(text) for text in step.queue],
            [number(text) for text in step.waiting],
            [number(f"{name} {state}") for name, state in step.states],
        ]

    steps = [packed(step) for step in trace.steps]
    functions = list(trace.sources.items())
    return {"functions": functions, "steps": steps, "texts": [*texts]}
