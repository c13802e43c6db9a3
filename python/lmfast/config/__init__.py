"""Settings as plain frozen dataclasses, and the strict reader that fills them from TOML.

Nothing here imports torch; every other part of lmfast may import it.
"""

from lmfast.config.model import ModelConfig
from lmfast.config.reader import apply_overrides, from_dict, load_toml, to_dict, to_toml
from lmfast.config.run import DataConfig, OptimizerConfig, RunConfig, ScheduleConfig

__all__ = [
    "DataConfig",
    "ModelConfig",
    "OptimizerConfig",
    "RunConfig",
    "ScheduleConfig",
    "apply_overrides",
    "from_dict",
    "load_toml",
    "to_dict",
    "to_toml",
]
