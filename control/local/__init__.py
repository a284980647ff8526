"""The product on a laptop: which processes run, where they listen, and how `up`, `down` and `demo` drive them.

This package is only their supervisor. Mesh runner, controller and services are processes of their own, so that the
death of one is not the death of another.
"""
