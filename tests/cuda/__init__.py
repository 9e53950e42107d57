"""Tests of CUDA devices, on a driver made of ctypes and numpy: no GPU is needed."""
