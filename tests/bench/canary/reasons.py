"""Why is an aim missed? One sentence a gate that misses its aim, with the figures it rests on.

A whole run fails when a gate misses its aim and no reason stands here. A reason of a gate that is met is not printed.
"""

REASONS: dict[str, str] = {}
"""By a gate's name."""
