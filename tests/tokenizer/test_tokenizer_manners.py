"""What a well-behaved object does: copies, pickles, threads, children, Ctrl-C."""

import copy
import multiprocessing
import pickle
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from textwrap import dedent, indent

import pytest
from tokenizer_texts import MULTILINGUAL
from trained_tokenizers import Trained

import lmfast


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickled(trained: Trained, protocol: int) -> None:
    again = pickle.loads(pickle.dumps(trained.ours, protocol))
    assert again == trained.ours
    assert again.encode_ordinary(MULTILINGUAL) == trained.ours.encode_ordinary(MULTILINGUAL)


def test_copied(trained: Trained) -> None:
    for again in (copy.copy(trained.ours), copy.deepcopy(trained.ours)):
        assert again == trained.ours
        assert hash(again) == hash(trained.ours)
        assert again.special_tokens == trained.ours.special_tokens


def test_equal_is_what_gives_the_same_ids(all_trained: dict[str, Trained]) -> None:
    different = {trained.ours for trained in all_trained.values()}
    assert len(different) == len(all_trained)
    gpt2 = all_trained["gpt2"].ours
    assert gpt2 != "gpt2"
    other = lmfast.Tokenizer.from_ranks(gpt2.mergeable_ranks, "gpt2", {"<|other|>": 1499})
    assert other != gpt2
    recut = lmfast.Tokenizer.from_ranks(gpt2.mergeable_ranks, "cl100k", gpt2.special_tokens)
    assert recut != gpt2
    respelled = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    same = lmfast.Tokenizer.from_ranks(gpt2.mergeable_ranks, respelled, gpt2.special_tokens)
    assert same == gpt2


def test_a_batch_is_pickled(gpt2: lmfast.Tokenizer) -> None:
    batch = gpt2.encode_batch(["one", "two words"])
    assert pickle.loads(pickle.dumps(batch)).tolist() == batch.tolist()


def test_its_repr_names_it(trained: Trained) -> None:
    name = trained.ours.pretokenizer or "none"
    assert repr(trained.ours) == f"Tokenizer(n_vocab=1500, pretokenizer={name!r})"


def test_eight_threads_at_once(gpt2: lmfast.Tokenizer) -> None:
    lines = MULTILINGUAL.splitlines(keepends=True)
    expected = [gpt2.encode_ordinary(line) for line in lines]

    def work(number: int) -> bool:
        if number % 2:
            return gpt2.encode_batch(lines, 2).tolist() == expected
        encoded = [gpt2.encode_ordinary(line) for line in lines]
        counts = [gpt2.count_tokens(line) for line in lines]
        assert counts == [len(gpt2.encode_with_offsets(line).ids) for line in lines]
        return encoded == expected and gpt2.decode_batch(encoded) == lines

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(64)))


def _encode_in_child(tokenizer: lmfast.Tokenizer, connection: object) -> None:
    ids = tokenizer.encode_batch([MULTILINGUAL] * 3, 2).tolist()
    connection.send((tokenizer.identity, ids))  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_in_a_child(gpt2: lmfast.Tokenizer, method: str) -> None:
    """After threads have been at work in the parent, which hangs pools that outlive a call."""
    expected = gpt2.encode_batch([MULTILINGUAL] * 3, 2).tolist()
    context = multiprocessing.get_context(method)
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_encode_in_child, args=(gpt2, sender))
    child.start()
    sender.close()
    try:
        assert receiver.poll(30), "the child hangs"
        assert receiver.recv() == (gpt2.identity, expected)
        child.join(30)
        assert child.exitcode == 0
    finally:
        child.kill()


FORKS = """
import faulthandler, os, threading
import lmfast
faulthandler.dump_traceback_later(80, exit=True)
tokenizer = lmfast.train_bpe(iter(["some words that go on"] * 9), vocab_size=270)
expected = tokenizer.encode("some words")
stop = threading.Event()

def work():
    while not stop.is_set():
        tokenizer.encode("some words"); tokenizer.count_tokens("words")

threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(20):
    child = os.fork()
    if child == 0:
        right = tokenizer.encode("some words") == expected
        right &= tokenizer.encode_batch(["some words"] * 3, 2) == [expected] * 3
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
"""


def test_a_fork_while_threads_encode() -> None:
    """Locks that other threads hold at that moment stay locked in the child."""
    options = ["-W", "ignore::DeprecationWarning"]
    subprocess.run([sys.executable, *options, "-c", FORKS], check=True, timeout=90)


class _Lines:
    """A dataset whose items are encoded by the workers."""

    def __init__(self, tokenizer: lmfast.Tokenizer, lines: list[str]) -> None:
        self.tokenizer, self.lines = tokenizer, lines

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, index: int) -> str:
        return self.lines[index]

    def collate(self, lines: list[str]) -> object:
        return self.tokenizer(lines, padding=True, pad_token_id=0, return_tensors="pt")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_a_data_loader(gpt2: lmfast.Tokenizer, method: str) -> None:
    from torch.utils.data import DataLoader

    lines = MULTILINGUAL.splitlines(keepends=True)
    data = _Lines(gpt2, lines)
    gpt2.encode_batch(lines * 20, 2)
    loader = DataLoader(
        data,  # type: ignore[arg-type]
        batch_size=4,
        num_workers=2,
        collate_fn=data.collate,
        multiprocessing_context=method,
        timeout=60,
    )
    found: list[list[int]] = []
    for batch in loader:
        rows = zip(batch["input_ids"], batch["attention_mask"], strict=True)
        found += [ids[mask == 1].tolist() for ids, mask in rows]
    assert found == [gpt2.encode_ordinary(line) for line in lines]


LONG_WORK = {
    "training": """
        text = " ".join("".join(rng.choices(letters, k=40)) for _ in range(60_000))
        lmfast.train_bpe(iter([text]), vocab_size=1 << 20, on_merges=report)
    """,
    "counting": """
        def texts():
            while True:
                report(1)
                yield "some words " * 1000
        lmfast.train_bpe(texts(), vocab_size=300)
    """,
    "a slow iterator": """
        import time
        def texts():
            while True:
                report(1)
                time.sleep(0.01)
                yield "some words"
        lmfast.train_bpe(texts(), vocab_size=300)
    """,
    "a batch": """
        tokenizer = lmfast.train_bpe(iter(["some words"]), vocab_size=260)
        documents = ["some words that go on " * 1000] * 200_000
        tokenizer.encode_batch(documents, 1, on_progress=report)
    """,
}


@pytest.mark.parametrize("work", LONG_WORK)
def test_ctrl_c_stops(work: str) -> None:
    program = (
        "import random, signal, lmfast\n"
        # Whoever started the tests in the background may have had it ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "rng, letters, told = random.Random(0), 'abcdefghijklmnopqrstuvwxyz', []\n"
        "def report(done):\n"
        "    if done and not told:\n"
        "        told.append(done)\n"
        "        print('at work', flush=True)\n"
        "try:\n"
        + indent(dedent(LONG_WORK[work]), "    ")
        + "\nexcept KeyboardInterrupt:\n    print('stopped')\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"at work\n"
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=20)
        finally:
            process.kill()
    assert output == b"stopped\n"
    assert process.returncode == 0


@pytest.mark.parametrize(
    "module",
    ["lmfast", "lmfast.config", "lmfast.accounting", "lmfast.tokenizer", "lmfast.cli"],
)
def test_importing_loads_no_torch(module: str) -> None:
    heavy = ["torch", "matplotlib", "einops", "transformers"]
    program = f"import {module}, sys; print([name for name in {heavy} if name in sys.modules])"
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, timeout=30
    )
    assert output.stdout == b"[]\n"
