"""Predicted against measured, for configurations of the model that lmfast trains, on the CPU.

    python benches/accounting_memory.py            # prints the table and writes the record

Each row builds the model, makes one step, and compares parameters, state, saved activations and
FLOPs with what the accounting said. Activations are counted by torch's saved-tensor hooks, FLOPs
by its FlopCounterMode with attention in its math form (the fused one counts as 0 on a CPU). Rows
in bf16 are small, since a CPU without matrix units emulates it slowly.
"""

import dataclasses
import datetime
import json
import platform
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from lmfast.accounting import count_flops, count_parameters, estimate_activations, estimate_memory
from lmfast.config import ModelConfig
from lmfast.model import Transformer, initialise

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "accounting"))
from saved_bytes import saved_bytes

RECORD = Path(__file__).parent / "record" / "accounting-memory.json"
TOLERANCE = 0.02


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """One row: a model and how it is run."""

    name: str
    model: ModelConfig
    batch: int
    recipe: str = "fp32"
    checkpointing: str = "none"
    compiled: bool = False


def shape(layers: int, width: int, heads: int, context: int, **more: Any) -> ModelConfig:
    """A model with a vocabulary of 4,096 unless it says otherwise."""
    settings = {"vocab_size": 4_096, "n_layer": layers, "d_model": width, "n_head": heads}
    return ModelConfig(**settings | {"context_length": context} | more)


CASES = (
    Case(name="tiny", model=shape(2, 64, 4, 128), batch=4),
    Case(name="tiny bf16", model=shape(2, 64, 4, 128), batch=4, recipe="amp-bf16"),
    Case(name="small", model=shape(4, 256, 8, 256), batch=4),
    Case(name="small bf16", model=shape(3, 128, 4, 128), batch=4, recipe="amp-bf16"),
    Case(name="small, checkpointed", model=shape(4, 256, 8, 256), batch=4, checkpointing="full"),
    Case(
        name="small bf16, checkpointed",
        model=shape(3, 128, 4, 128),
        batch=4,
        recipe="amp-bf16",
        checkpointing="full",
    ),
    Case(name="grouped queries", model=shape(4, 256, 8, 256, n_kv_head=2), batch=4),
    Case(
        name="one kv head bf16",
        model=shape(3, 128, 4, 128, n_kv_head=1),
        batch=2,
        recipe="amp-bf16",
    ),
    Case(name="QK-norm", model=shape(4, 256, 8, 256, qk_norm=True), batch=4),
    Case(
        name="QK-norm bf16", model=shape(3, 128, 4, 128, qk_norm=True), batch=4, recipe="amp-bf16"
    ),
    Case(name="tied", model=shape(3, 256, 4, 512, tied_embeddings=True), batch=2),
    Case(name="large vocabulary", model=shape(2, 192, 3, 256, vocab_size=32_768), batch=2),
    Case(
        name="large vocabulary bf16",
        model=shape(2, 64, 2, 64, vocab_size=32_768),
        batch=2,
        recipe="amp-bf16",
    ),
    Case(name="long context", model=shape(2, 128, 4, 2_048), batch=1),
    Case(name="wide feed-forward", model=shape(3, 192, 6, 256, d_ff=2_048), batch=3),
    Case(
        name="interleaved rotary", model=shape(3, 192, 6, 256, rope_layout="interleaved"), batch=3
    ),
    Case(name="deep, checkpointed", model=shape(12, 128, 4, 256), batch=4, checkpointing="full"),
    Case(name="all weights bf16", model=shape(3, 128, 4, 128), batch=4, recipe="bf16"),
    Case(name="compiled", model=shape(3, 256, 8, 256), batch=4, compiled=True),
    Case(
        name="compiled, grouped queries",
        model=shape(3, 256, 8, 256, n_kv_head=2),
        batch=4,
        compiled=True,
    ),
)


def build(case: Case) -> Transformer:
    """The model of a row, ready to run."""
    model = Transformer(case.model, "full" if case.checkpointing == "full" else "none")
    initialise(model, 0)
    model.to(torch.bfloat16 if case.recipe == "bf16" else torch.float32)
    if case.compiled:
        torch.compiler.reset()
        # Inductor's partition of the graph, which decides what is saved, without its code.
        model.compile(backend="aot_eager_decomp_partition")
    return model


def loss_of(case: Case, model: Transformer) -> Callable[[], Tensor]:
    """One forward pass with its loss, as the trainer makes it."""
    ids, targets = torch.randint(case.model.vocab_size, (2, case.batch, case.model.context_length))

    def forward() -> Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=case.recipe == "amp-bf16"):
            logits = model(ids)
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())

    return forward


def executed_flops(forward: Callable[[], Tensor]) -> int:
    """FLOPs of a forward and a backward pass."""
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        forward().backward()
    return int(counter.get_total_flops())


def state_bytes(model: Transformer, forward: Callable[[], Tensor]) -> int:
    """Bytes of parameters, gradients and AdamW's moments after a step, its step counts left out."""
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    forward().backward()
    optimizer.step()
    tensors = [*model.parameters(), *(p.grad for p in model.parameters() if p.grad is not None)]
    tensors += [v for s in optimizer.state.values() for v in s.values() if v.dim() > 0]
    return sum(tensor.untyped_storage().nbytes() for tensor in tensors)


def compare(case: Case) -> dict[str, Any]:
    """Predicted and measured figures of a row."""
    model = build(case)
    forward = loss_of(case, model)
    arguments = (case.model, case.batch, None, case.recipe, case.checkpointing)
    activations = estimate_activations(*arguments, compiled=case.compiled)
    buckets = estimate_memory(*arguments, compiled=case.compiled).buckets
    names = ("parameters", "gradients", "optimizer_state", "master_weights")
    row = {
        "parameters": [
            count_parameters(case.model).value,
            sum(parameter.numel() for parameter in model.parameters()),
        ],
        "activation_bytes": [activations.saved.value, saved_bytes(model, forward)],
    }
    if not case.compiled:
        counted = count_flops(
            case.model, convention="hardware", checkpointing=case.checkpointing
        ).training
        row["flops"] = [counted.value * case.batch, executed_flops(forward)]
    if case.recipe != "bf16":  # torch's AdamW would keep bf16 moments there
        row["state_bytes"] = [
            sum(buckets[name].value for name in names),
            state_bytes(model, forward),
        ]
    return {
        "name": case.name,
        "batch": case.batch,
        "recipe": case.recipe,
        "checkpointing": case.checkpointing,
        "compiled": case.compiled,
        "model": dataclasses.asdict(case.model),
        **{
            name: {"predicted": pair[0], "measured": pair[1], "error": pair[0] / pair[1] - 1}
            for name, pair in row.items()
        },
    }


def commit() -> str:
    """The commit that this was measured at."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    """Compare all rows, print them and write the record."""
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    columns = ("parameters", "activation_bytes", "state_bytes", "flops")
    print(f"{'case':28}" + "".join(f"{column:>20}" for column in columns))
    rows = []
    for case in CASES:
        row = compare(case)
        rows.append(row)
        cells = [f"{100 * row[c]['error']:+19.3f} %" if c in row else f"{'':>20}" for c in columns]
        print(f"{case.name:28}" + "".join(cells), flush=True)
    worst = max(abs(row["activation_bytes"]["error"]) for row in rows)
    record = {
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "commit": commit(),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "tolerance": TOLERANCE,
        "worst_activation_error": worst,
        "rows": rows,
    }
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"worst error of activations: {100 * worst:.3f} %; written to {RECORD}")
    assert worst <= TOLERANCE, "the table of saved tensors no longer describes the model"


if __name__ == "__main__":
    main()
