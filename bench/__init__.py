"""How fast the library is, as ratios measured in one run; ``python -m bench``.

Both sides of a ratio get the same two threads, whatever the machine has. The variables are set
here because they count only before the libraries that read them are loaded.
"""

import os

for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "2"
