"""What the subcommands of ``tokenizer`` tell of counts, and of what was left out."""

from typing import Any

from lmfast.bpe import PretokenCounts
from lmfast.cli.streams import say
from lmfast.sources import Skipped


def describe_counts(counts: PretokenCounts) -> dict[str, Any]:
    """Counts for ``--json``."""
    return {
        "pretokens": len(counts),
        "occurrences": counts.occurrences,
        "text_bytes": counts.text_bytes,
        "dropped": describe_dropped(counts),
    }


def describe_dropped(counts: PretokenCounts) -> dict[str, int]:
    """The pretokens that were dropped, for ``--json``."""
    dropped = counts.dropped
    return {
        "pretokens": dropped.pretokens,
        "occurrences": dropped.occurrences,
        "bytes": dropped.bytes,
    }


def say_dropped(counts: PretokenCounts) -> None:
    """Say what was lost, if anything was."""
    dropped = counts.dropped
    if dropped.pretokens:
        say(
            f"dropped {dropped.pretokens:,} pretokens that occur {dropped.occurrences:,} times in "
            f"all and make up {dropped.bytes:,} bytes; the count of any pair is too low by "
            f"{dropped.bytes - dropped.occurrences:,} at most"
        )


def describe_skipped(skipped: Skipped | None) -> dict[str, Any] | None:
    """What of a corpus could not be used, for ``--json``; None where that is not known."""
    if skipped is None:
        return None
    return {
        "documents": skipped.documents,
        "by_reason": skipped.by_reason,
        "first": skipped.first,
    }


def say_skipped(skipped: Skipped | None) -> None:
    """Say what of a corpus could not be used, if anything."""
    if skipped is None or not skipped.by_reason:
        return
    parts = []
    if skipped.documents:
        reasons = (f"{n:,} {name}" for name, n in skipped.by_reason.items() if name != "null")
        parts.append(f"{skipped.documents:,} documents ({', '.join(reasons)})")
    if skipped.null_rows:
        parts.append(f"{skipped.null_rows:,} rows without a value")
    say(f"left out {' and '.join(parts)}; the first: {skipped.first}")
