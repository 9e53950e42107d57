"""Tests of the machine that runs PTX: its instructions, its checks, and what they catch."""
