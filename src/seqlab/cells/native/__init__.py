"""Kernels in C++ for the cells."""
