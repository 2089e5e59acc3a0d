"""The settings for vLLM and SGLang, read by their own code: python -m tests.rehearsals.engines FOLDER

FOLDER holds both, installed without what they need: pip install --no-deps --target FOLDER vllm sglang. Their functions that
apply overrides, check lengths and make cosines and sines run; all else is a stub, so no accelerator is needed. Every
release that has settings is stretched from 4,096 to 16,384 tokens by each rule, in the class of its whole file. Families whose
models pass no rule on to these functions are read from the code, and are those that we list.
"""

import ast
import importlib
import inspect
import json
import shlex
import sys
import types
from collections.abc import Callable, Iterator
from copy import deepcopy
from importlib.machinery import ModuleSpec
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import torch
from transformers import PretrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from d2lpos.config import Refused, in_force, read, releases, settings
from d2lpos.config.angles import turns
from d2lpos.config.schema import Encoding
from d2lpos.config.tables import rows, table
from d2lpos.input.sinusoids import angles

TRAINED, TOKENS = 4096, 16_384
LOOKED_AT = (
    ("vllm", "vllm/model_executor/models", "rope_parameters"),
    ("sglang", "sglang/srt/models", "rope_scaling"),
)


class Kernel(torch.nn.Module):
    """What their modules inherit from."""

    enabled = staticmethod(lambda: False)

    def __init__(self, *_: object, **__: object):
        super().__init__()


class Nothing:
    """Whatever they import besides: false; as a decorator it changes nothing."""

    def __bool__(self) -> bool:
        return False

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return {"is_cpu": lambda: True, "publish_role": lambda: None}.get(name, self)

    def __call__(self, *given: object, **_: object) -> object:
        return given[0] if len(given) == 1 and (inspect.isclass(given[0]) or inspect.isfunction(given[0])) else self

    def __mro_entries__(self, bases: tuple) -> tuple:
        return (Kernel,)


class Stub(types.ModuleType):
    def __getattr__(self, name: str) -> object:
        return getattr(Nothing(), name)


class Stubs:
    """Finds a stub for each of their modules that does not begin with `real`."""

    def __init__(self, folder: Path, real: str):
        self.folder, self.real = folder, real

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        mine = name.split(".")[0] == self.real.split(".")[0] and not name.startswith(self.real)
        return ModuleSpec(name, self, is_package=True) if mine else None

    def create_module(self, spec: ModuleSpec) -> Stub:
        made = Stub(spec.name)
        made.__path__ = [str(self.folder / spec.name.replace(".", "/"))]
        return made

    def exec_module(self, module: Stub) -> None:
        pass


def taken(file: Path, wanted: Callable[[ast.AST], bool]) -> types.CodeType:
    """Statements of a file, without the rest of it."""
    found = list(filter(wanted, ast.walk(ast.parse(file.read_text("utf-8")))))
    return compile(ast.Module([*ast.parse("from __future__ import annotations").body, *found], []), str(file), "exec")


def functions(file: Path, *names: str) -> dict:
    space = {"logger": Nothing(), "current_platform": Nothing(), "envs": Nothing()}

    def wanted(one: ast.AST) -> bool:
        if isinstance(one, ast.Assign):
            return getattr(one.targets[0], "id", None) in names
        return isinstance(one, ast.FunctionDef) and one.name in names

    exec(taken(file, wanted), space)  # noqa: S102
    return space


def by_kind(config: PretrainedConfig) -> list[dict]:
    """The parameters of RoPE of all layers, or of each kind; what vLLM's iter_rope_parameters gives."""
    parameters = config.rope_parameters
    return [*parameters.values()] if "full_attention" in parameters else [parameters]


def vllm(folder: Path) -> Callable:
    real = "vllm.model_executor.layers.rotary_embedding"
    sys.meta_path.insert(0, Stubs(folder, real))
    get_rope = importlib.import_module(real).get_rope
    of = functions(folder / "vllm/config/model.py", "_apply_dict_overrides", "_update_nested", "_get_and_verify_max_len")
    of |= {"iter_rope_parameters": by_kind}
    model = SimpleNamespace(_update_nested=lambda *both: of["_update_nested"](model, *both))

    def apply(config: PretrainedConfig, over: dict, dim: int, neox: bool) -> torch.Tensor:
        config.update({key: value for key, value in over.items() if not isinstance(value, dict)})
        nested = {key: value for key, value in over.items() if isinstance(value, dict)}
        of["_apply_dict_overrides"](model, config, nested)
        text, key = config.get_text_config(), "max_position_embeddings"
        arch = SimpleNamespace(derived_max_model_len_and_key=(getattr(text, key), key))
        of["_get_and_verify_max_len"](text, arch, None, TOKENS, False, None)
        factor = 1 if text.model_type in table("programs")["vllm"]["ramp"]["once"].split() else 4  # as its models call it
        rope = text.rope_parameters.get("full_attention", text.rope_parameters)  # as models whose layers have one each
        return get_rope(dim, getattr(text, key), neox, rope, torch.float32, None, factor).cos_sin_cache

    return apply


def sglang(folder: Path) -> Callable:
    real, files = "sglang.srt.layers.rotary_embedding", folder / "sglang/srt/utils/hf_transformers"
    sys.meta_path.insert(0, Stubs(folder, real))
    get_rope = importlib.import_module(real).get_rope
    length = functions(files / "common.py", "get_context_length", "CONTEXT_LENGTH_KEYS")["get_context_length"]

    def overrides(one: ast.AST) -> bool:  # the statement of get_config that applies them to what it has read
        told = ast.unparse(one) if isinstance(one, ast.If) else ""
        return told.startswith("if model_override_args:") and "DeepseekV41" in told

    override = taken(files / "config.py", overrides)
    known = {"DeepseekV41Config": type(None), "PretrainedConfig": PretrainedConfig}

    def apply(config: PretrainedConfig, over: dict, dim: int, neox: bool) -> torch.Tensor:
        exec(override, known | {"config": config, "model_override_args": over})  # noqa: S102
        text = config.get_text_config()
        if length(text) < TOKENS:
            raise ValueError(f"{TOKENS} tokens are more than {length(text)}")
        rope = text.rope_parameters
        how = rope["rope_theta"], neox, rope, torch.float32, rope.get("partial_rotary_factor", 1.0)
        return get_rope(dim, dim, text.max_position_embeddings, *how).cos_sin_cache

    return apply


def turning(config: object) -> Encoding | None:
    """What turns in the first layer that turns, without a window if there is one."""
    layers = [layer for layer in read(config)["kinds"] if turns(layer)]
    return next((layer["encoding"] for layer in sorted(layers, key=lambda layer: bool(layer["window"]))), None)


def differences(program: str, apply: Callable) -> Iterator[tuple[str, float]]:
    """A release and a rule, and the largest difference of cosines and sines."""
    for one, rule in product(releases(), table("settings")["rules"]):
        said, family = one["config"], one["config"]["model_type"]
        try:
            line = settings(read(said), TOKENS, program, TRAINED, rule)["line"] if family in CONFIG_MAPPING else "#"
        except Refused:
            continue
        before = None if line.startswith("#") else turning(said)
        if before is None:
            continue
        over = json.loads(shlex.split(line, comments=True)[-1])
        config = CONFIG_MAPPING[family].from_dict(deepcopy(said))  # whose dictionaries it keeps and the programs change
        theirs = apply(config, over, before["dim"], before["layout"] == "half").double()
        # The betas undo that vLLM takes 4 times the original length; a type of the file stays, and both look at rope_type.
        for key in ("beta_fast", "beta_slow", "type"):
            config.get_text_config().rope_parameters.pop(key, None)
        omega, factor = in_force(turning(config), TOKENS)
        at = torch.arange(0, TOKENS, 97)
        angle = angles(at.double(), torch.tensor(omega, dtype=torch.float64))
        gap = (theirs[at] - factor * torch.cat([angle.cos(), angle.sin()], -1)).abs().max().item()
        yield f"{program}: {one['name']}, {rule}", gap


def passed_over(models: Path, rule: str) -> set[str]:
    """Families whose file among a program's models calls `get_rope`, and never with the argument that is its rule."""
    found = set()
    for file in models.glob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call) and ast.unparse(one.func) == "get_rope"]
        if calls and not any(rule == argument.arg for call in calls for argument in call.keywords):
            classes = {one.name for one in tree.body if isinstance(one, ast.ClassDef)}
            found |= {family for family, name in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.items() if name in classes}
    known = set(table("settings")["passes_over"]["rules and bases"].split())
    return found & {family for family, row in rows().items() if not row["source"]} - known


def main(folder: str) -> str | None:
    for program, models, rule in LOOKED_AT:
        lists = table("programs")[program].get("passes_over", {})
        listed, silent = set(lists.get("rules", "").split()), passed_over(Path(folder, models), rule)
        if listed != silent:
            return f"{program}: {sorted(listed - silent)} pass rules on, {sorted(silent - listed)} do not and are not listed"
    found = [one for program in (vllm, sglang) for one in differences(program.__name__, program(Path(folder)))]
    for name, gap in found:
        print(f"{name}: {gap:.0e}")
    wrong = [name for name, gap in found if gap > 1e-2]
    return f"{len(wrong)} of {len(found)} differ: {wrong}" if wrong or not found else None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
