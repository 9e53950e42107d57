"""Faults put into the compiler on purpose, each with the test that has to find it: the test of the tests."""
