"""From text to a trained model in one call, with its costs predicted and measured.

Needs ``lmfast[train]``.
"""

from lmfast.quickstart.pipeline import quickstart
from lmfast.quickstart.report import Report

__all__ = ["Report", "quickstart"]
