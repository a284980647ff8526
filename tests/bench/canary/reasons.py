"""Why is an aim missed? One sentence a gate that misses its aim, with the figures it rests on.

A whole run fails when a gate misses its aim and no reason stands here. A reason of a gate that is met is not printed.
"""

REASONS: dict[str, str] = {
    "0.3 to 2 %: mean excess failures": (
        "Stakes are divided among six tests and among every moment at which a fault may begin; what that costs is "
        "about two failed requests. The aim was set for one test that begins bad. Its interval holds the aim."
    ),
    "Good version promoted, bake off: median minutes": (
        "Shares climb two rungs a stage at most, and a stage lasts two polls after its weight is in force: five "
        "stages before the proof has 20 % of the traffic. The aim is missed by one poll of 5 s, and its interval holds it."
    ),
}
"""By a gate's name."""
