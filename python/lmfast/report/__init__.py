"""Where a tokenizer stands on a text, and why; beside others on the same text."""

from lmfast.report.characters import TextCounts
from lmfast.report.measure import Report, compression_report
from lmfast.report.tokens import KindUse, LengthUse, SourceUse, TokenizerUse, TokenUse

__all__ = [
    "KindUse",
    "LengthUse",
    "Report",
    "SourceUse",
    "TextCounts",
    "TokenUse",
    "TokenizerUse",
    "compression_report",
]
