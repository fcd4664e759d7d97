"""The auditors' kernels, asked directly."""

import numpy as np

from veilset import _native
from veilset.audit.coherence import sensitive_things

_NO_LIMITS = {"memory_limit": 1 << 40, "time_limit": 1e9, "progress": None}


def kernel(data, promise, *, batch_limit=0, work_limit=1 << 40, threads=1, witnesses=1000):
    """The kernel's answer in plain values."""
    kind, things = sensitive_things(data, promise)
    found = _native.audit.coherence(
        data.offsets,
        data.items,
        kind,
        kinds=len(things),
        h_num=promise.share.numerator,
        h_den=promise.share.denominator,
        k=promise.k,
        p=promise.p or 0,
        witness_limit=witnesses,
        batch_limit=batch_limit,
        work_limit=work_limit,
        threads=threads,
        **_NO_LIMITS,
    )
    return _plain(found)


def rho_kernel(data, rho, *, batch_limit=0, work_limit=1 << 40, threads=1):
    """The same of the auditor of ρ-uncertainty."""
    found = _native.audit.rho(
        data.offsets,
        data.items,
        data.is_sensitive,
        rho_num=rho.numerator,
        rho_den=rho.denominator,
        witness_limit=1000,
        batch_limit=batch_limit,
        work_limit=work_limit,
        threads=threads,
        **_NO_LIMITS,
    )
    return _plain(found)


def _plain(found):
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in found.items()}
