"""A report in words: sentences that follow from its figures, and nothing else."""

from collections.abc import Iterator, Sequence

from lmfast.accounting.vocabulary import EXPECTED_BYTES_PER_TOKEN
from lmfast.report.characters import TextCounts
from lmfast.report.tokens import PARTS, KindUse, TokenizerUse

# The mark for English is known for vocabularies of this size and more.
_MARK_VOCABULARY = 32_000
# From this part of ASCII on, a text is measured against English's mark.
_MOSTLY_ASCII = 0.95
# A kind of token is worth a sentence from this part of the tokens on, if it is that much shorter
# than the average token.
_WORTH_TELLING = 0.05
_SHORT = 0.8
_MOST_KINDS = 3


def verdict(text: TextCounts, tokenizers: Sequence[TokenizerUse]) -> tuple[str, ...]:
    """Where the first of ``tokenizers`` stands on ``text`` and why, then the others beside it."""
    first, *others = tokenizers
    return (*_standing(text, first), *_reasons(first), *(_beside(first, one) for one in others))


def _standing(text: TextCounts, use: TokenizerUse) -> Iterator[str]:
    mark, code = (EXPECTED_BYTES_PER_TOKEN[kind] for kind in ("english", "code"))
    yield (
        f"{use.name} makes {use.bytes_per_token:.2f} bytes per token of this text; a sound "
        f"vocabulary of {_MARK_VOCABULARY:,} ids makes about {mark:g} of clean English and about "
        f"{code:g} of code."
    )
    made_of = sorted(text.kinds.items(), key=lambda kind: -kind[1])
    shares = ", ".join(f"{share:.1%} {kind}" for kind, share in made_of[:4])
    yield f"Its bytes are {text.ascii_share:.1%} ASCII: {shares}."
    if text.ascii_share < _MOSTLY_ASCII:
        yield f"English is no measure here: {1 - text.ascii_share:.1%} of the text is not ASCII."
    elif use.bytes_per_token < mark:
        yield f"That is {1 - use.bytes_per_token / mark:.0%} below English."
    else:
        yield "It reaches what English does."
    if use.n_vocab < _MARK_VOCABULARY:
        yield f"The vocabulary is smaller than that: {use.n_vocab:,} ids."


def _reasons(use: TokenizerUse) -> Iterator[str]:
    average = use.bytes_per_token
    short = [
        kind
        for kind in use.by_kind
        if kind.token_share >= _WORTH_TELLING and kind.bytes_per_token < _SHORT * average
    ]
    # Tokens beyond those that the average would need for the same bytes.
    short.sort(key=lambda kind: kind.bytes / average - kind.tokens)
    yield from (_kind(use, kind) for kind in short[:_MOST_KINDS])
    if use.single_byte_share >= _WORTH_TELLING:
        yield (
            f"{use.single_byte_share:.1%} of the tokens are single bytes; {use.part_share:.1%} are "
            f"{PARTS}."
        )
    if use.unused_share >= _WORTH_TELLING:
        yield (
            f"{use.unused_share:.1%} of the vocabulary ({use.unused:,} ids) never occurs in these "
            f"{use.tokens:,} tokens."
        )


def _kind(use: TokenizerUse, kind: KindUse) -> str:
    told = (
        f"{kind.token_share:.1%} of the tokens are {kind.kind}, at {kind.bytes_per_token:.2f} "
        "bytes each"
    )
    tokens = use.tokens - kind.tokens
    if not tokens:
        return f"{told}."
    text_bytes = use.bytes_per_token * use.tokens
    return f"{told}; all others make {(text_bytes - kind.bytes) / tokens:.2f}."


def _beside(first: TokenizerUse, other: TokenizerUse) -> str:
    more = first.tokens / other.tokens - 1
    compared = f"{abs(more):.1%} {'more' if more > 0 else 'fewer'} tokens than"
    if not more:
        compared = "as many tokens as"
    return f"{first.name} needs {compared} {other.name} ({other.bytes_per_token:.2f} bytes each)."
