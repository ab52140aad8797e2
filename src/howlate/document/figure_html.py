"""A figure in the report: its heading, legend and panels, with the data that the page's script draws on."""

from __future__ import annotations

import json
from html import escape

from howlate.document.doc_links import address, of_chart
from howlate.figures.figure import Figure, Key, Panel
from howlate.figures.frame import frame
from howlate.figures.svg import MARKERS, words
from howlate.words.say import text_of


def figure_html(figure: Figure, note: str, part: str, column: str) -> str:
    """`note`: what must be known, as HTML; `column`: the one that is drawn, "" for the first."""
    ident = "-".join(word for word in (figure.name, part, column) if word)
    panels = "".join(_panel(figure, panel, f"{ident}-{i}") for i, panel in enumerate(figure.panels))
    legend = "".join(_key(key) for key in figure.keys)
    many = " grid" if figure.columns else " many" if len(figure.panels) > 8 else ""
    style = (
        f' style="grid-template-columns: repeat({figure.columns}, minmax(0, 1fr))"' if figure.columns else ""
    )
    source = source_link(of_chart(figure.name))
    y_title = f'<p class="axis y-title">{words(figure.y_title)}</p>' if figure.y_title else ""
    return (
        f'<section class="chart" data-chart="{figure.name}" id="{escape(ident)}"><h2>{words(figure.title)}</h2>'
        f'<p class="reading">{words(figure.reading)}{source}</p>{note}'
        + (f'<ul class="legend">{legend}</ul>' if legend else "")
        + f'{y_title}<div class="panels{many}"{style}>{panels}</div>'
        f'<p class="axis x-title">{words(figure.x_title)}</p></section>'
    )


def source_link(target: str, text: str = "?") -> str:
    """A link to the page of the documentation that explains something; its title says which."""
    where = escape(address(target), quote=True)
    css = "source" if text == "?" else "source heading"
    return f'<a class="{css}" href="{where}" title="{where}">{escape(text)}</a>'


def _key(key: Key) -> str:
    if key.mark == "area":
        mark = f'<rect class="area {key.classes}" x="1" y="3" width="22" height="10"/>'
    elif key.mark == "line":
        mark = f'<path class="line {key.classes}" d="M1,8H23"/>'
    else:
        line = f'<path class="line {key.classes}" d="M1,8H27"/>' if key.series is not None else ""
        classes = f"marker {key.mark} {key.classes}"
        mark = f'{line}<path class="{classes}" transform="translate(14 8)" d="{MARKERS[key.mark]}"/>'
    series = f' data-series="{key.series}"' if key.series is not None else ""
    return f'<li{series}><svg width="28" height="16" aria-hidden="true">{mark}</svg>{words(key.text)}</li>'


def _panel(figure: Figure, panel: Panel, ident: str) -> str:
    x = panel.picture.x
    data = {
        "x": {
            "low": x.low,
            "high": x.high,
            "log": x.log,
            "kind": x.kind,
            **({"names": x.names} if x.names else {}),
            **({"knee": x.knee} if x.log and x.knee else {}),
        },
        "plane": [panel.picture.width, panel.picture.height],
        "link": panel.link,
        "label": panel.label,
        **panel.data,
    }
    head = f"<h3>{words(panel.label)}</h3>" if len(figure.panels) > 1 else ""
    aside = f'<p class="aside">{aside}</p>' if (aside := words(panel.aside)) else ""
    return (
        f'<div class="panel"><div class="panel-head">{head}{aside}</div>'
        f'<div class="plot{"" if panel.picture.y_ticks else " wide"}" id="{ident}">{frame(panel, ident)}'
        f'<script type="application/json">{script_json(data)}</script></div></div>'
    )


def script_json(value: object) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=text_of)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
