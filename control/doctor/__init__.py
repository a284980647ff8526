"""What stands between a shift and its traffic? Facts in, findings out. Pure."""
