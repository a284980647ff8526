"""Translation engines behind one interface: see `engine` for it, `apertium` for the one that runs offline."""
