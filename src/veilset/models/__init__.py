"""The promises, and the form in which an auditor answers whether one is kept."""

from veilset.models.coherence import Coherence
from veilset.models.promise import Audit, Margin, Parameter, Promise, Reach, Witness
from veilset.models.rho_uncertainty import RhoUncertainty

__all__ = ["Audit", "Coherence", "Margin", "Parameter", "Promise", "Reach", "RhoUncertainty", "Witness"]
