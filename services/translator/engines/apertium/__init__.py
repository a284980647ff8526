"""Apertium, rule-based machine translation, kept warm.

`modes` reads Debian's mode files into stages, `catalog` says which pairs they make, `pipeline` is one warm process
group, `warm_mode` opens, restarts and closes pipelines, `stream_format` keeps texts apart from the engine's own marks,
`engine` puts them together.
"""
