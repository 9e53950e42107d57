"""Running compiled programs from Python: arguments in, launches, errors out."""
