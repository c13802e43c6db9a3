"""The merges of training, against the rule and against Hugging Face's trainer."""

import pytest
import reference_trainer as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizer_texts import END_OF_TEXT, MULTILINGUAL, library_files, random_words
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

import lmfast

TIE_BREAKS = ["lexicographic", "huggingface", "smallest_id"]
SPECIAL = [END_OF_TEXT, "<|end", " stop "]

letters = st.sampled_from(["ab", "abc", "ab \n", "aé水", "The cat's 12", "\0\x7f\u0301a"])
words = letters.flatmap(lambda alphabet: st.text(st.sampled_from(alphabet), max_size=30))
documents = st.lists(
    st.lists(st.one_of(words, st.sampled_from(SPECIAL)), max_size=5).map("".join),
    min_size=1,
    max_size=8,
).filter(lambda texts: any(texts))


@settings(max_examples=60, deadline=None)
@given(
    texts=documents,
    pretokenizer=st.sampled_from(["gpt2", "cl100k", "o200k", "llama3", None]),
    tie_break=st.sampled_from(TIE_BREAKS),
    min_frequency=st.integers(1, 4),
    max_token_bytes=st.one_of(st.none(), st.integers(1, 6)),
    threads=st.sampled_from([1, 2, 7]),
)
def test_merges_follow_the_rule(
    texts: list[str],
    pretokenizer: str | None,
    tie_break: str,
    min_frequency: int,
    max_token_bytes: int | None,
    threads: int,
) -> None:
    counts = None
    options = {"min_frequency": min_frequency, "max_token_bytes": max_token_bytes}
    try:
        trained = lmfast.train_bpe(
            iter(texts),
            vocab_size=256 + len(SPECIAL) + 40,
            pretokenizer=pretokenizer,
            special_tokens=SPECIAL,
            tie_break=tie_break,  # type: ignore[arg-type]
            allow_fewer=True,
            threads=threads,
            **options,  # type: ignore[arg-type]
        )
    except lmfast.errors.CorpusError:
        counts = reference.pretokens(texts, None, SPECIAL)
        assert not counts, "only a corpus of nothing but special tokens is empty"
        return
    counts = reference.pretokens(texts, trained.pattern, SPECIAL)
    assert trained.merges == reference.merges(counts, 40, tie_break, **options)  # type: ignore[arg-type]
    ranks = trained.mergeable_ranks
    assert len(set(ranks)) == len(set(ranks.values())) == trained.n_vocab - len(SPECIAL)
    assert list(trained.special_tokens) == SPECIAL
    assert list(trained.special_tokens.values()) == list(range(len(ranks), trained.n_vocab))


@pytest.mark.parametrize("tie_break", TIE_BREAKS)
def test_many_ties(tie_break: str) -> None:
    text = random_words(1, "abcdeéü水", words=700)
    counts = reference.pretokens([text], r" ?\p{L}+", [])
    expected = reference.merges(counts, 120, tie_break)
    for threads in (1, 2, 7):
        trained = lmfast.train_bpe(
            iter([text]),
            vocab_size=256 + 120,
            special_tokens=[],
            tie_break=tie_break,  # type: ignore[arg-type]
            threads=threads,
        )
        assert trained.merges == expected


@pytest.mark.parametrize("pretokenizer", ["gpt2", "cl100k"])
@pytest.mark.parametrize("max_token_bytes", [None, 5])
def test_hugging_face_finds_the_same_merges(pretokenizer: str, max_token_bytes: int | None) -> None:
    text = MULTILINGUAL * 3 + "".join(path.read_text() for path in library_files(0.3))
    merges = 1500
    ours = lmfast.train_bpe(
        iter([text]),
        vocab_size=256 + merges,
        pretokenizer=pretokenizer,
        special_tokens=[],
        tie_break="huggingface",
        max_token_bytes=max_token_bytes,
    )
    theirs = Tokenizer(models.BPE())
    assert ours.pattern is not None
    theirs.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(ours.pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    # Their limit is exclusive, and counts characters, which are bytes here.
    limit = {} if max_token_bytes is None else {"max_token_length": max_token_bytes + 1}
    trainer = trainers.BpeTrainer(
        vocab_size=256 + merges,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
        **limit,
    )
    theirs.train_from_iterator([text], trainer)
    spelled = {token_id: text for text, token_id in theirs.get_vocab().items()}
    expected = [spelled[token_id] for token_id in range(256, 256 + merges)]
    spell = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokens = {token_id: token for token, token_id in ours.mergeable_ranks.items()}
    alphabet = _alphabet(spell)
    found = ["".join(alphabet[b] for b in tokens[i]) for i in range(256, 256 + merges)]
    assert found == expected


def _alphabet(spell: pre_tokenizers.ByteLevel) -> dict[int, str]:
    """The character by which Hugging Face writes each byte that UTF-8 has."""
    alphabet: dict[int, str] = {}
    for character in map(
        chr, [*range(0x800), *range(0x800, 0xD800, 64), *range(0x10000, 0x110000, 4096)]
    ):
        ((text, _),) = spell.pre_tokenize_str(character)
        alphabet.update(zip(character.encode(), text, strict=True))
    return alphabet


def test_self_overlap_is_counted_as_it_merges() -> None:
    """In ``aaa`` the pair occurs twice; what is left after the merge is ``aa`` and ``a``."""
    trained = lmfast.train_bpe(iter(["aaa"]), vocab_size=258, special_tokens=[])
    assert trained.merges == [(b"a", b"a"), (b"aa", b"a")]


def test_the_order_of_documents_does_not_matter() -> None:
    one, other = "bbbaaaddddcccc ", "aaabbbccccdddd "
    first, second = (
        lmfast.train_bpe(iter(texts), vocab_size=262, special_tokens=[])
        for texts in ([one, other], [other, one])
    )
    assert first == second
