"""The options that the subcommands of ``tokenizer`` share, and the tokenizer they name."""

from itertools import combinations
from pathlib import Path
from typing import Annotated

import typer

from lmfast.bpe import TieBreak
from lmfast.cli.streams import check_stdin, say
from lmfast.encodings import ENCODING_NAMES, get_encoding
from lmfast.errors import ConfigError, FileError, MissingFileError, VocabularyError
from lmfast.formats.loading import file_at
from lmfast.formats.methods import check_name
from lmfast.sources import OnError, files_of
from lmfast.tokenizer import END_OF_TEXT, PRETOKENIZERS, Tokenizer
from lmfast.trace import check_trace_path

ThreadsOption = Annotated[
    int | None, typer.Option("--threads", help="Worker threads; default: one per core.", min=1)
]
PretokenizerOption = Annotated[
    str,
    typer.Option(
        "--pretokenizer", help=f"{', '.join(PRETOKENIZERS)}, none, or a regular expression."
    ),
]
SpecialOption = Annotated[
    list[str] | None,
    typer.Option(
        "--special",
        metavar="TEXT",
        help=f"A special token, which ends documents; may be repeated. Replaces the default, "
        f"{END_OF_TEXT}.",
    ),
]
TieBreakOption = Annotated[
    TieBreak, typer.Option("--tie-break", help="Which of equally frequent pairs merges first.")
]
MinFrequencyOption = Annotated[
    int, typer.Option("--min-frequency", help="Rarer pairs do not merge.", min=1)
]
MaxTokenBytesOption = Annotated[
    int | None, typer.Option("--max-token-bytes", help="The longest token to make, inclusive.")
]
AllowFewerOption = Annotated[
    bool, typer.Option("--allow-fewer", help="Take fewer tokens if the corpus gives no more.")
]


def standard_input(paths: list[Path] | None) -> list[Path] | None:
    """The paths of a corpus, with the system's name for standard input in the place of ``-``.

    Raises:
        ConfigError: It is there more than once, or closed.
    """
    if paths is None or (there := sum(str(path) == "-" for path in paths)) == 0:
        return paths
    if there > 1:
        msg = "standard input (-) can be read once only: name it once"
        raise ConfigError(msg)
    check_stdin()
    return [Path("/dev/stdin") if str(path) == "-" else path for path in paths]


CORPUS_HELP = (
    "Files, patterns, or folders, which stand for all files in them: text, .jsonl, .parquet; also "
    ".gz, .zst; - is text on standard input."
)
CorpusArgument = Annotated[
    list[Path],
    typer.Argument(help=CORPUS_HELP, callback=standard_input),
]
TextCorpusArgument = Annotated[
    list[Path],
    typer.Argument(
        help="Text files and JSON lines (field 'text'), patterns, or folders, which stand for all "
        "files in them; also .gz, .zst; - is text on standard input.",
        callback=standard_input,
    ),
]
MinCountOption = Annotated[
    int,
    typer.Option(
        "--min-count", help="Drop pretokens that occur less often in all; says what is lost.", min=1
    ),
]
MemoryOption = Annotated[
    int | None,
    typer.Option(
        "--memory-budget",
        metavar="MIB",
        help="MiB that may be taken; the rest goes to temporary files, with the same result.",
        min=1,
    ),
]
TemporaryOption = Annotated[
    Path | None,
    typer.Option(
        "--temporary-folder", help="Where temporary files go; default: the system's folder."
    ),
]
TextFieldOption = Annotated[
    str,
    typer.Option(
        "--text-field",
        metavar="NAME",
        help="The field of JSON lines, or column of Parquet files, that holds the text.",
    ),
]
OnErrorOption = Annotated[
    OnError,
    typer.Option("--on-error", help="'skip' leaves out and counts what cannot be used."),
]
TokenizerArgument = Annotated[
    Path,
    typer.Argument(
        help="A tokenizer.json, a tekken.json, a .tiktoken file, a folder, or a name of tiktoken's "
        f"({', '.join(ENCODING_NAMES)})."
    ),
]
FilePretokenizerOption = Annotated[
    str | None,
    typer.Option("--pretokenizer", help="For .tiktoken and GPT-2 files, which do not say."),
]
FileSpecialOption = Annotated[
    list[str] | None,
    typer.Option(
        "--special", metavar="TEXT[=ID]", help="For the same: a special token, with its id."
    ),
]


def _trace_path(path: Path | None) -> Path | None:
    """Refuse now, not after hours of training, what no trace can be written to."""
    if path is not None:
        check_trace_path(path)
    return path


TraceOption = Annotated[
    Path | None,
    typer.Option(
        "--trace",
        help="Also write every merge, to a .jsonl, .arrow or .parquet.",
        callback=_trace_path,
    ),
]


def special_tokens(given: list[str] | None) -> list[str]:
    """The special tokens of --special, or the default; says where that no longer ends documents."""
    if given is None:
        return [END_OF_TEXT]
    if END_OF_TEXT not in given:
        say(
            f"--special replaces the default: {END_OF_TEXT} ends no document and is text like any "
            f"other; to keep it, add --special '{END_OF_TEXT}'"
        )
    return given


def budget_bytes(mib: int | None) -> int | None:
    """The bytes of --memory-budget."""
    return None if mib is None else mib << 20


def load_tokenizer(
    path: Path,
    pretokenizer: str | None = None,
    special: list[str] | None = None,
    *,
    cut_by: str = "--pretokenizer ",
) -> Tokenizer:
    """The tokenizer that a command names.

    Args:
        path: Its file or folder; where neither is there, the name of an encoding of tiktoken's.
        pretokenizer: For the files that do not say.
        special: The same.
        cut_by: What the user puts before the name of a pretokenizer.

    Raises:
        ConfigError: An id of a special token is not a number, or the file does not say how text is
            cut and neither does the user, or an encoding does and so does the user.
        MissingFileError: There is neither such a file nor such an encoding.
    """
    if str(path) in ENCODING_NAMES and not path.exists():
        if pretokenizer is not None or special is not None:
            msg = f"{path} has its own pretokenizer and special tokens; name it without others"
            raise ConfigError(msg)
        return get_encoding(str(path))
    try:
        return _load(path, pretokenizer, special)
    except MissingFileError as error:
        if len(path.parts) != 1 or path.exists():
            raise
        msg = f"{error}, and tiktoken has no such encoding ({', '.join(ENCODING_NAMES)})"
        raise MissingFileError(msg) from error
    except VocabularyError as error:
        if pretokenizer is not None or file_at(path)[1] not in ("tiktoken", "gpt2"):
            raise
        msg = (
            f"{path} does not say how text is cut, and a guess would give wrong ids: pass "
            f"{cut_by}NAME, of {', '.join(PRETOKENIZERS)}, a regular expression, or none"
        )
        raise ConfigError(msg) from error


def _load(path: Path, pretokenizer: str | None, special: list[str] | None) -> Tokenizer:
    if special is None:
        return Tokenizer.load(path, pretokenizer)
    if file_at(path)[1] != "tiktoken":
        return Tokenizer.load(path, pretokenizer, special)
    ids: dict[str, int] = {}
    for text in special:
        name, equals, token_id = text.rpartition("=")
        if not equals or not token_id.isdecimal():
            msg = f"cannot read --special {text!r}: for {path} it must be TEXT=ID"
            raise ConfigError(msg)
        ids[name] = int(token_id)
    return Tokenizer.load(path, pretokenizer, ids)


def check_out(out: Path, sources: list[Path]) -> None:
    """Refuse, before hours of work, a file that cannot be written or that is read.

    Raises:
        FileError: Its folder is not there, or it is a folder.
        ConfigError: It is one of the sources.
    """
    if not out.parent.is_dir():
        msg = f"cannot write {out}: there is no folder {out.parent}"
        raise FileError(msg)
    if out.is_dir():
        msg = f"cannot write {out}: it is a folder"
        raise FileError(msg)
    read = (file for source in sources for file in files_of([source]))
    if out.is_file() and any(map(out.samefile, read)):
        msg = f"cannot write {out}: it is one of the files that are read"
        raise ConfigError(msg)


def check_tokenizer_out(out: Path | None, sources: list[Path], *beside: Path | None) -> None:
    """The same for a file that will be a ``tokenizer.json``, and for others written ``beside`` it.

    Raises:
        FileError: The folder of a file is not there, or it is a folder.
        ConfigError: A file is one of the sources or is written twice, or the tokenizer is called
            like a file of ranks.
    """
    written = [path for path in (out, *beside) if path is not None]
    for path in written:
        check_out(path, sources)
    for one, other in combinations(written, 2):
        if one.resolve() == other.resolve():
            msg = f"cannot write {one} twice: give each output a file of its own"
            raise ConfigError(msg)
    if out is not None:
        check_name(out)
