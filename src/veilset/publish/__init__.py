"""The release on disk: two folders, a certificate, a recipe; and `verify`, which believes only the bytes."""

from veilset.publish.bundle import Bundle, check_target, publish
from veilset.publish.certificate import Certificate
from veilset.publish.edits import recipe_like
from veilset.publish.handover import check_format, check_seed
from veilset.publish.on_engine import publish_held
from veilset.publish.recipe import Recipe
from veilset.publish.verification import Verification
from veilset.publish.verify import verify

__all__ = [
    "Bundle",
    "Certificate",
    "Recipe",
    "Verification",
    "check_format",
    "check_seed",
    "check_target",
    "publish",
    "publish_held",
    "recipe_like",
    "verify",
]
