"""The type of NumPy arrays in annotations, which do not say the item type. Kernels may import this module: it imports
nothing that changes often."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
