"""The test suite.

Its first act is to ask for one thread: pools read this once, and two of them on a shared machine slow each
other down.
"""

import os

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"
