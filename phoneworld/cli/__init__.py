"""The command line: the only place that puts rooms together."""
