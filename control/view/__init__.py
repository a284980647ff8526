"""What does a screen show? Values that every screen only lays out: terminal, web, JSON.

Each number is worked out and worded once, here, from (the TrafficShift document, the journal's tail, now). Pure: no
input or output, no clock.
"""
