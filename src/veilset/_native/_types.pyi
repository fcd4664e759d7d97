"""Arguments and results of kernels."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

_Int64 = npt.NDArray[np.int64]
_Int32 = npt.NDArray[np.int32]
_Uint64 = npt.NDArray[np.uint64]
_Uint8 = npt.NDArray[np.uint8]
_Int8 = npt.NDArray[np.int8]
_Float64 = npt.NDArray[np.float64]
_Strings = tuple[_Int64, _Uint8]
_Progress = Callable[[int, int, int], None] | None
