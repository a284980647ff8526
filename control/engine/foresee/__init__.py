"""How would a shift go? The very engine, run many times on traffic that is drawn at random, before anything is moved.

`assumed` is what is taken for granted, `draw` one poll's counts, `course` the rules around the evidence, `run` the
loop, `afterwards` what follows a promotion, `outcome` what came of each run, `needs` how much evidence a margin needs.
"""

from control.engine.foresee.assumed import Assumed, Setting, setting
from control.engine.foresee.outcome import UNNAMED, End, Foreseen
from control.engine.foresee.run import foresee

__all__ = ["UNNAMED", "Assumed", "End", "Foreseen", "Setting", "foresee", "setting"]
