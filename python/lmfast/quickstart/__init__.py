"""The whole way in one call: text to a trained model, with every cost predicted and measured.

Needs ``lmfast[train]``.
"""

from lmfast.quickstart.pipeline import quickstart
from lmfast.quickstart.report import Report

__all__ = ["Report", "quickstart"]
