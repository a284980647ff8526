"""Why is an aim missed? One sentence a gate that misses its aim, with the figures it rests on.

A whole run fails when a gate misses its aim and no reason stands here. A reason of a gate that is met is not printed.
"""

REASONS: dict[str, str] = {
    "A/A, independent noise: false rollback, worst scenario": (
        "Failures in clumps of 20, dispersion 39, in a service of which nothing is known: a few clumps on the "
        "canary are taken for the version before stable has shown how large they are. Over many runs it is 1 to 2 %; "
        "with what five earlier shifts left in the ledger, none of 200."
    ),
    "0.3 to 2 %: mean excess failures": (
        "Stakes are divided among six tests and among every moment at which a fault may begin; what that costs is "
        "about two failed requests. The aim was set for one test that begins bad. Its interval holds the aim."
    ),
    "Good version promoted, bake off: median minutes": (
        "Shares climb two rungs a stage at most, and a stage lasts two polls after its weight is in force: five "
        "stages before the proof has 20 % of the traffic. The aim is missed by one poll of 5 s; its interval holds it."
    ),
}
"""By a gate's name."""
