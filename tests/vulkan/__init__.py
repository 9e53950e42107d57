"""Tests of Vulkan devices; those that need a driver say so where there is none."""
