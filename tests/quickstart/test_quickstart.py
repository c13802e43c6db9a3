import json
import os
import random

import pytest

from lmfast import Tokenizer
from lmfast.corpus import TokenShards
from lmfast.errors import ConfigError, CorpusError, FileError, MissingFileError
from lmfast.model import load_run
from lmfast.quickstart import quickstart
from lmfast.quickstart.folder import owned
from lmfast.quickstart.plan import Budget, choose_model
from lmfast.quickstart.sources import from_paths, standard_library

FILES = ("report.json", "report.txt", "loss.png", "sample.txt", "tokenizer.json")


@pytest.fixture
def corpus(tmp_path):
    """One document without separators, as students have it; enough of it to hold some out."""
    words = random.Random(0).choices(["def", "return", "x", "self", "(", ")", "=", "\n"], k=30_000)
    path = tmp_path / "corpus.txt"
    path.write_text(" ".join(words))
    return path


def test_from_text_to_a_complete_report(corpus, tmp_path):
    out = tmp_path / "out"
    report = quickstart([corpus], out, seconds=2)
    written = json.loads((out / "report.json").read_text())
    assert written == json.loads(json.dumps(report.to_dict()))
    assert all((out / name).stat().st_size for name in FILES)

    unpredictable = {"matmul_ceiling", "bits_per_byte_after"}
    for line in report.comparisons:
        assert line.measured is not None, line.name
        assert (line.predicted is None) == (line.name in unpredictable), line.name
    for name in ("parameters", "flops_per_step_exact"):
        assert report[name].predicted == report[name].measured
    assert report["tokens"].ratio == pytest.approx(1, abs=1e-3)
    for bucket in ("parameters", "gradients", "activations", "optimizer_state"):
        assert report[f"memory_{bucket}"].ratio == pytest.approx(1, rel=0.02)
    assert report["bits_per_byte_after"].measured < report["bits_per_byte_before"].measured

    model, tokenizer = load_run(out)
    assert tokenizer == Tokenizer.load(out / "tokenizer.json")
    assert TokenShards.open(out / "data/train", verify=True).identity == tokenizer.identity
    assert sum(p.numel() for p in model.parameters()) == report["parameters"].measured

    (tmp_path / "small").write_text("too little\n")
    with pytest.raises(CorpusError, match="has 11 bytes"):
        quickstart([tmp_path / "small"], out)
    assert (out / "report.json").exists(), "what cannot begin must not cost the last quickstart"
    with owned(out):
        assert not (out / "report.json").exists(), "a report must not outlive its run"


def test_a_folder_of_something_else_is_left_alone(corpus, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("precious")
    with pytest.raises(ConfigError, match="no quickstart made it"):
        quickstart([corpus], tmp_path / "mine")
    with pytest.raises(ConfigError):
        quickstart([corpus], corpus)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]


def test_two_at_once_refuse_each_other(tmp_path):
    with owned(tmp_path / "out"), pytest.raises(FileError), owned(tmp_path / "out"):
        pass


def test_a_missing_corpus_is_said(tmp_path):
    with pytest.raises(MissingFileError, match="no such file"):
        quickstart([tmp_path / "missing"], tmp_path / "out")


def test_every_machine_has_the_default_corpus():
    sources = standard_library()
    assert sources.bytes > 5e6
    assert all(path.suffix == ".py" for path in sources.paths)
    assert not {"site-packages"} & {part for path in sources.paths for part in path.parts}


def test_a_single_document_is_cut_finely_enough_to_hold_some_out(corpus):
    sources = from_paths([corpus])
    assert sources.bytes / sources.max_document_bytes > 10


def test_a_larger_budget_buys_a_larger_model():
    def width(flops):
        return choose_model(4096, Budget(seconds=60, peak_flops=flops)).d_model

    widths = [width(flops) for flops in (1e9, 1e11, 1e13, 1e15)]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e308])
def test_no_time_to_train_is_refused_at_once(corpus, tmp_path, seconds):
    with pytest.raises(ConfigError, match="seconds"):
        quickstart([corpus], tmp_path / "out", seconds=seconds)
    assert not (tmp_path / "out").exists()


def test_a_corpus_that_can_be_read_only_once_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CorpusError, match="read twice"):
        from_paths([tmp_path / "pipe"])
    with pytest.raises(FileError):
        from_paths([tmp_path / ("x" * 300)])


def test_a_quickstart_killed_at_its_very_first_write_blocks_nothing(tmp_path):
    (tmp_path / "..quickstart.tmp").touch()
    with owned(tmp_path):
        pass


def test_names_that_no_folder_can_have(corpus, tmp_path):
    with pytest.raises(FileError):
        quickstart([corpus], tmp_path / ("x" * 300))
    with pytest.raises(ConfigError, match="UTF-8"):
        quickstart([corpus], tmp_path / "\udcff")
