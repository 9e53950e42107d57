"""Tests of the target `spirv`."""
