"""VirtualServices as people write them: generated in many styles, with noise around everything.

`written` gives a text and where its weights are, so that laws can be stated about all the other bytes.
"""

from dataclasses import dataclass

from hypothesis import strategies as st

COMMENTS = ["", "  # why", "   # é ☕ 🎉 {[\"'", "\t# tab", " #"]
QUOTES = ["", "'", '"']
NAMES = ["primary", '"primary"', "!!str primary"]
SPACES = ["", " ", "   "]
NOISE = [
    "      # a line of comment\n",
    "\n",
    "      timeout: 5s\n",
    "      unknownField: { a: [1,2 ,  3], 'b' : \"c\" }\n",
    "      headers:\n          request: {set: {x-a: '1'}}\n",
    "      text: |\n        weight: 7\n        - destination\n",
]


@dataclass(frozen=True)
class Written:
    """A text with its weights; `positions` are the characters of each weight's digits, in order of destinations."""

    text: str
    weights: tuple[int, ...]
    positions: tuple[tuple[int, int], ...]


class _Pen:
    """Collects text and remembers where the weights were written."""

    def __init__(self) -> None:
        self.text = ""
        self.positions: list[tuple[int, int]] = []

    def write(self, text: str) -> None:
        self.text += text

    def digits(self, weight: int) -> None:
        start = len(self.text)
        self.text += str(weight)
        self.positions.append((start, len(self.text)))


@st.composite
def written(draw: st.DrawFn) -> Written:
    """A VirtualService whose route `primary` has v1, v2 and perhaps others, each with a weight."""
    count = draw(st.integers(2, 4))
    weights = draw(
        st.lists(st.integers(0, 1000), min_size=count, max_size=count).filter(lambda found: sum(found[:2]) >= 100)
    )
    pen = _Pen()
    pen.write(draw(st.sampled_from(["", "# top\n", "---\n", "\n\n# ☕\n", "%YAML 1.1\n---\n", "\ufeff"])))
    pen.write("apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: translator} # me\n")
    pen.write("spec:\n  hosts: [translator]\n  http:\n")
    for _ in range(draw(st.integers(0, 2))):
        pen.write("    - match: [{uri: {prefix: /x}}]\n      redirect: {uri: /}\n")
    pen.write(f"    - name: {draw(st.sampled_from(NAMES))}\n")
    pen.write("".join(draw(st.lists(st.sampled_from(NOISE), max_size=2, unique=True))))
    draw(st.sampled_from([_block_route, _flow_route]))(draw, pen, weights)
    pen.write(draw(st.sampled_from(["", "# end", "---\n# empty\n", "...\n"])))
    return _with_line_breaks(
        Written(pen.text, tuple(weights), tuple(pen.positions)), draw(st.sampled_from(["\n", "\r\n"]))
    )


def _block_route(draw: st.DrawFn, pen: _Pen, weights: list[int]) -> None:
    indent = " " * draw(st.sampled_from([6, 8, 11]))
    pen.write(f"      route:{draw(st.sampled_from(COMMENTS))}\n")
    for at, weight in enumerate(weights, 1):
        comment = draw(st.sampled_from(COMMENTS))
        if draw(st.booleans()):
            pen.write(f"{indent}- weight:{draw(st.sampled_from([' ', '   ']))}")
            _weight(draw, pen, weight)
            pen.write(f"{comment}\n{indent}  destination: {{host: translator, subset: v{at}}}\n")
        else:
            pen.write(
                f"{indent}-   destination:{comment}\n{indent}      host: translator\n{indent}      subset: 'v{at}'\n"
            )
            pen.write(f"{indent}    weight: ")
            _weight(draw, pen, weight)
            pen.write(f"{draw(st.sampled_from(COMMENTS))}\n")


def _flow_route(draw: st.DrawFn, pen: _Pen, weights: list[int]) -> None:
    space = st.sampled_from([*SPACES, "\n            ", " # c\n            "])
    pen.write("      route: [")
    for at, weight in enumerate(weights, 1):
        pen.write(
            f"{', ' if at > 1 else ''}{draw(space)}{{{draw(space)}destination: {{host: translator, subset: v{at}}},"
        )
        pen.write(f"{draw(space)} weight: ")
        _weight(draw, pen, weight)
        pen.write(f"{draw(space)}}}")
    pen.write("]\n")


def _weight(draw: st.DrawFn, pen: _Pen, weight: int) -> None:
    quote = draw(st.sampled_from(QUOTES))
    pen.write(draw(st.sampled_from(["", "", "!!int ", "&own-" + str(len(pen.positions)) + " "])) if not quote else "")
    pen.write(quote)
    pen.digits(weight)
    pen.write(quote)


def _with_line_breaks(found: Written, line_break: str) -> Written:
    def moved(index: int) -> int:
        return index + found.text.count("\n", 0, index) * (len(line_break) - 1)

    positions = tuple((moved(start), moved(end)) for start, end in found.positions)
    return Written(found.text.replace("\n", line_break), found.weights, positions)


LASTS = [
    "subset: v{at}",
    "subset: v{at}  # é",
    "subset: v{at}\n{indent}  headers: {{request: {{set: {{a: b}}}}}} # x",
    "subset: v{at}\n{indent}  headers:\n{indent}    request:\n{indent}      remove:\n{indent}        - x   # y",
    "subset: v{at}\n{indent}  headers:\n{indent}    request:\n{indent}      set: {{a: b,\n{indent}        }}",
    "subset: v{at}\n{indent}  headers:\n{indent}    note: |\n{indent}      b",
    "subset: v{at}\n{indent}  headers:",
    "subset: 'v{at}'\n\n{indent}  # a comment behind\n",
]
FLOWS = [
    "{{destination: {{host: translator, subset: v{at}}}}}",
    '{{ "destination" : {{"host":"translator","subset":"v{at}"}} , }}',
    "destination: {{host: translator, subset: v{at}}}",
    "{{destination: {{host: translator, subset: v{at}}},\n            headers: }}",
    "{{headers: {{}}, destination: {{host: translator, subset: v{at}}} # c\n            }}",
]


@st.composite
def without_weights(draw: st.DrawFn) -> str:
    """A VirtualService whose route `primary` has v1 and v2, none of them with a weight."""
    indent = " " * draw(st.sampled_from([6, 9]))
    lasts = draw(st.lists(st.sampled_from(LASTS), min_size=2, max_size=2))
    block = "\n".join(
        f"{indent}-{' ' * gap}destination:\n{indent}     {' ' * gap}host: translator\n"
        f"{indent}     {' ' * gap}{last.format(at=at, indent=indent + ' ' * (gap - 1))}"
        for at, (last, gap) in enumerate(zip(lasts, draw(st.sampled_from([(1, 1), (3, 1), (2, 2)])), strict=True), 1)
    )
    entries = draw(st.lists(st.sampled_from(FLOWS), min_size=2, max_size=2))
    flow = f"{indent}  [{', '.join(entry.format(at=at) for at, entry in enumerate(entries, 1))}]"
    text = (
        "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: translator}\n"
        f"spec:\n  http:\n    - name: primary\n      route:\n{draw(st.sampled_from([block, flow]))}"
        f"{draw(st.sampled_from(['', chr(10), '  # end' + chr(10), chr(10) + '      timeout: 5s' + chr(10)]))}"
    )
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
