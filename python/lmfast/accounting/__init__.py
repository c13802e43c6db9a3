"""The costs of training as arithmetic that can be done before it. Pure Python, no torch.

Each function returns its value together with unit, formula and convention. Way in: ``quantity``
(a number that says what it is), ``matmuls`` (what is multiplied), ``saved`` (what is kept).
"""

from lmfast.accounting.activations import ActivationEstimate, estimate_activations
from lmfast.accounting.architecture import Architecture, as_architecture
from lmfast.accounting.budget import (
    CHINCHILLA,
    compute_budget,
    compute_optimal,
    fit_power_law,
    largest_model,
    most_tokens,
)
from lmfast.accounting.checkpointing import Checkpointing, parse_checkpointing
from lmfast.accounting.compression import bits_per_byte, bytes_per_token, first_loss
from lmfast.accounting.dtypes import FORMATS, cast, cast_block
from lmfast.accounting.duration import energy, price, six_nd, training_time
from lmfast.accounting.fit import checkpointing_frontier, largest_micro_batch
from lmfast.accounting.flops import FlopCount, check_6nd, count_flops
from lmfast.accounting.hardware import (
    Device,
    Peaks,
    device_of_torch,
    find_device,
    known_devices,
    store_device,
)
from lmfast.accounting.kv_cache import kv_cache
from lmfast.accounting.measure import (
    measure_copy_bandwidth,
    measure_device,
    measure_matmul_ceiling,
)
from lmfast.accounting.memory import MemoryEstimate, estimate_memory
from lmfast.accounting.named import MODELS, load_model_shape, named_model
from lmfast.accounting.parallelism import Parallelism
from lmfast.accounting.parameters import count_matmul_parameters, count_parameters
from lmfast.accounting.plan import Job, Plan, make_plan
from lmfast.accounting.quantity import Page, Quantity
from lmfast.accounting.recipes import (
    RECIPES,
    Recipe,
    bytes_per_parameter,
    find_recipe,
    with_optimizer,
)
from lmfast.accounting.run_check import RunReport, check_run
from lmfast.accounting.utilisation import hfu, mbu, mfu
from lmfast.accounting.vocabulary import VocabularyPlan, check_compression, vocabulary_plan
from lmfast.accounting.workload import Workload, decode_crossover, model_workload

__all__ = [
    "CHINCHILLA",
    "FORMATS",
    "MODELS",
    "RECIPES",
    "ActivationEstimate",
    "Architecture",
    "Checkpointing",
    "Device",
    "FlopCount",
    "Job",
    "MemoryEstimate",
    "Page",
    "Parallelism",
    "Peaks",
    "Plan",
    "Quantity",
    "Recipe",
    "RunReport",
    "VocabularyPlan",
    "Workload",
    "as_architecture",
    "bits_per_byte",
    "bytes_per_parameter",
    "bytes_per_token",
    "cast",
    "cast_block",
    "check_6nd",
    "check_compression",
    "check_run",
    "checkpointing_frontier",
    "compute_budget",
    "compute_optimal",
    "count_flops",
    "count_matmul_parameters",
    "count_parameters",
    "decode_crossover",
    "device_of_torch",
    "energy",
    "estimate_activations",
    "estimate_memory",
    "find_device",
    "find_recipe",
    "first_loss",
    "fit_power_law",
    "hfu",
    "known_devices",
    "kv_cache",
    "largest_micro_batch",
    "largest_model",
    "load_model_shape",
    "make_plan",
    "mbu",
    "measure_copy_bandwidth",
    "measure_device",
    "measure_matmul_ceiling",
    "mfu",
    "model_workload",
    "most_tokens",
    "named_model",
    "parse_checkpointing",
    "price",
    "six_nd",
    "store_device",
    "training_time",
    "vocabulary_plan",
    "with_optimizer",
]
