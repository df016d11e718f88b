"""C++ kernels for the cells."""
