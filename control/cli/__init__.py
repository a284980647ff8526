"""The command `tidegate`: one file a verb (verbs/), screens that only lay out `control.view`."""
