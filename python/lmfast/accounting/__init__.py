"""Every cost of training as arithmetic that can be done beforehand. Pure Python, no torch.

Each function returns its value together with unit, formula and convention.
"""

from lmfast.accounting.activations import ActivationEstimate, estimate_activations
from lmfast.accounting.architecture import Architecture, as_architecture
from lmfast.accounting.checkpointing import Checkpointing, parse_checkpointing
from lmfast.accounting.compression import bits_per_byte, bytes_per_token
from lmfast.accounting.duration import energy, price, six_nd, training_time
from lmfast.accounting.flops import FlopCount, check_6nd, count_flops
from lmfast.accounting.measure import measure_matmul_ceiling
from lmfast.accounting.memory import MemoryEstimate, estimate_memory
from lmfast.accounting.named import MODELS, load_model_shape, named_model
from lmfast.accounting.parameters import count_matmul_parameters, count_parameters
from lmfast.accounting.quantity import Quantity
from lmfast.accounting.recipes import RECIPES, Recipe, bytes_per_parameter, find_recipe
from lmfast.accounting.utilisation import hfu, mbu, mfu

__all__ = [
    "MODELS",
    "RECIPES",
    "ActivationEstimate",
    "Architecture",
    "Checkpointing",
    "FlopCount",
    "MemoryEstimate",
    "Quantity",
    "Recipe",
    "as_architecture",
    "bits_per_byte",
    "bytes_per_parameter",
    "bytes_per_token",
    "check_6nd",
    "count_flops",
    "count_matmul_parameters",
    "count_parameters",
    "energy",
    "estimate_activations",
    "estimate_memory",
    "find_recipe",
    "hfu",
    "load_model_shape",
    "mbu",
    "measure_matmul_ceiling",
    "mfu",
    "named_model",
    "parse_checkpointing",
    "price",
    "six_nd",
    "training_time",
]
