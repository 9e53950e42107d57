"""Passes: verified IR in, verified IR or facts out."""
