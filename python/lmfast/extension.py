"""Continuing a vocabulary on more text."""

from lmfast.bpe import TieBreak, count_pretokens, merge_counted
from lmfast.errors import VocabularyError
from lmfast.sources import Corpus, OnError, StrPath
from lmfast.tokenizer import Progress, Tokenizer, require_tokenizer


def extend(
    tokenizer: Tokenizer,
    sources: Corpus,
    *,
    vocab_size: int,
    tie_break: TieBreak = "lexicographic",
    min_frequency: int = 1,
    max_token_bytes: int | None = None,
    allow_fewer: bool = False,
    memory_budget: int | None = None,
    temporary_folder: StrPath | None = None,
    text_field: str = "text",
    on_error: OnError = "raise",
    threads: int | None = None,
    on_bytes: Progress | None = None,
    on_merges: Progress | None = None,
) -> Tokenizer:
    """Continue the training of a vocabulary on other text; every id and every rank stays.

    The text is encoded with ``tokenizer``, and the pairs of its tokens merge as in ``train_bpe``.
    New tokens have the ids after the greatest, new merges rank after all others. A pair whose bytes
    are a token already, special ones included, never merges, so that no two ids stand for the same
    bytes. Where a vocabulary takes a pretoken that is a token as a whole (``ignore_merges``), so
    does the extended one, and the counts are those of merging alone.

    Args:
        tokenizer: Of any origin; its pretokenizer and special tokens are used.
        sources: As for ``train_bpe``.
        vocab_size: Ids to end with, gaps and special tokens included; at least those there are.
        tie_break: As for ``train_bpe``.
        min_frequency: Pairs that occur less often do not merge.
        max_token_bytes: The longest new token, inclusive.
        allow_fewer: Return what there is when the corpus cannot fill the vocabulary.
        memory_budget: As for ``train_bpe``.
        temporary_folder: As for ``train_bpe``.
        text_field: As for ``train_bpe``.
        on_error: As for ``train_bpe``.
        threads: ``None`` is one per core.
        on_bytes: As for ``train_bpe``.
        on_merges: Called now and then with the new merges found.

    Raises:
        MissingFileError: A source is not there.
        MissingDependencyError: Parquet and Arrow files need the extra ``lmfast[arrow]``.
        CorpusError: The sources hold no text, or something that cannot be used.
        TextError: An item of the iterator is not UTF-8.
        VocabularyError: ``vocab_size`` is less than there is, or more than the corpus can fill; or
            the tokenizer normalizes text.
        FileError: A source cannot be read, or a temporary file cannot be written.
        ConfigError: There is no such tie-break, a number is out of range, or the budget is too
            small.
        InputTypeError: An argument has the wrong type.
    """
    require_tokenizer(tokenizer)
    if tokenizer.normalizer:
        msg = (
            f"cannot extend a tokenizer that normalizes text ({', '.join(tokenizer.normalizer)}): "
            "pairs would be counted in the text as it is, not in the form that is encoded"
        )
        raise VocabularyError(msg)
    counts = count_pretokens(
        sources,
        pretokenizer=tokenizer.pattern,
        special_tokens=list(tokenizer.special_tokens),
        memory_budget=memory_budget,
        temporary_folder=temporary_folder,
        text_field=text_field,
        on_error=on_error,
        threads=threads,
        on_bytes=on_bytes,
    )
    return merge_counted(
        counts,
        tokenizer,
        vocab_size=vocab_size,
        tie_break=tie_break,
        min_frequency=min_frequency,
        max_token_bytes=max_token_bytes,
        allow_fewer=allow_fewer,
        memory_budget=memory_budget,
        temporary_folder=temporary_folder,
        threads=threads,
        on_merges=on_merges,
    )
