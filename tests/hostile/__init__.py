"""Inputs that want to break the compiler: too deep, too many, too long, unfinished, meaningless."""
