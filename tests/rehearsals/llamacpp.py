"""The settings for llama.cpp, read by llama.cpp: python -m tests.rehearsals.llamacpp

It needs llama-cpp-python, which the weekly workflow builds, and SmolLM2's weights, which are written anew in float32, so
that only positions can differ. Each rule's flags are run beside the package's own reading, and so is a shift of keys.
"""

import shlex
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from gguf import GGUFReader, GGUFValueType, GGUFWriter, dequantize
from llama_cpp import llama_cpp as native

from d2lpos.config import read, settings
from d2lpos.lab import Probe, reuse
from d2lpos.lab.probe import tokens
from d2lpos.pretrained import encoding_of, find, load_smollm2

TRAINED, KEPT, DROPPED = 16, 4, 24
CONFIG = {"model_type": "llama", "head_dim": 64, "max_position_embeddings": TRAINED}
RULES = {
    "--rope-scaling": ("rope_scaling_type", {"linear": 1, "yarn": 2}.get),
    "--rope-scale": ("rope_freq_scale", lambda x: 1 / float(x)),
    "--yarn-orig-ctx": ("yarn_orig_ctx", int),
    "--rope-freq-base": ("rope_freq_base", float),
}


def in_float32(path: str) -> str:
    file, out = GGUFReader(find("smollm2")[0]), GGUFWriter(path, "llama")
    for name, field in file.fields.items():
        if not name.startswith(("GGUF.", "general.architecture", "general.file_type", "general.quantization")):
            inner = field.types[1] if field.types[0] == GGUFValueType.ARRAY else None
            out.add_key_value(name, field.contents(), field.types[0], sub_type=inner)
    for one in file.tensors:
        out.add_tensor(one.name, dequantize(one.data, one.tensor_type).astype("float32"))
    for write in (out.write_header_to_file, out.write_kv_data_to_file, out.write_tensors_to_file, out.close):
        write()
    return path


def context(model: object, **given: object) -> object:
    how = native.llama_context_default_params()
    exact = {"n_ctx": 256, "n_batch": 256, "n_ubatch": 256, "type_k": 0, "type_v": 0, "flash_attn_type": 0}
    for name, value in (exact | given).items():
        setattr(how, name, value)
    return native.llama_init_from_model(model, how)


def logits(one: object, text: list[int], first: int = 0) -> torch.Tensor:
    batch = native.llama_batch_init(len(text), 0, 1)
    batch.n_tokens = len(text)
    for i, token in enumerate(text):
        batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, first + i, 1, 1
        batch.seq_id[i][0] = 0
    if native.llama_decode(one, batch):
        raise RuntimeError(f"llama.cpp refuses {len(text)} tokens from {first} on")
    rows = [native.llama_get_logits_ith(one, i) for i in range(len(text))]
    return torch.stack([torch.tensor(np.ctypeslib.as_array(row, (49152,)).copy()) for row in rows])


def shifted(one: object, text: list[int]) -> torch.Tensor:
    """The last token's logits, after DROPPED tokens behind the KEPT first ones are gone and the others have moved up."""
    logits(one, text[:-1])
    memory = native.llama_get_memory(one)
    native.llama_memory_seq_rm(memory, 0, KEPT, KEPT + DROPPED)
    native.llama_memory_seq_add(memory, 0, KEPT + DROPPED, -1, -DROPPED)
    return logits(one, text[-1:], len(text) - 1 - DROPPED)[0]


def ours_shifted(model: object, text: list[int], grown: float) -> torch.Tensor:
    at = torch.arange(len(text) - 1)
    _, kept = reuse.read_through(model, torch.tensor([text[:-1]]), at >= 0, at, at, at <= at[:, None])
    left = torch.cat([at[:KEPT], at[KEPT + DROPPED :]])
    more = torch.nn.functional.pad
    kept = [(more(k[:, :, left] * grown, (0, 0, 0, 1)), more(v[:, :, left], (0, 0, 0, 1))) for k, v in kept]
    at = torch.arange(len(left) + 1)
    row = torch.tensor([[text[i] for i in left] + text[-1:]])
    x, _ = reuse.read_through(model, row, at == len(left), at, at, at <= at[:, None], kept)
    return model.logits(x[:, -1:])[0, 0]


@torch.no_grad()
def differences(path: str) -> Iterator[tuple[str, float]]:
    """What is compared, and the largest difference of its logits."""
    model, text = load_smollm2(), tokens(Probe("real-reuse", length=4 * TRAINED))[0].tolist()
    theirs = native.llama_model_load_from_file(path.encode(), native.llama_model_default_params())
    for rule in ("none", "yarn", "linear", "ntk"):
        flags, changed = {}, SimpleNamespace(rope_parameters={"rope_type": "default", "rope_theta": 1e5})
        if rule != "none":
            config = CONFIG | {"rope_theta": 1e5}
            words = shlex.split(settings(read(config), len(text), "llama.cpp", TRAINED, rule)["line"])
            flags = {RULES[a][0]: RULES[a][1](b) for a, b in pairwise(words) if a in RULES}
            exec(settings(read(config), len(text), "transformers", TRAINED, rule)["line"], {"config": changed})  # noqa: S102
        model.encoding = encoding_of(CONFIG | vars(changed)).encodings[0]
        yield rule, (logits(context(theirs, **flags), text) - model(torch.tensor([text]))[0]).abs().max().item()
        # llama.cpp 0.5 multiplies all keys by YaRN's factor once more; when it no longer does, symptoms.ipynb follows.
        found, grown = shifted(context(theirs, **flags), text), model.encoding.scaled()[1]
        yield f"{rule}, shifted", (found - ours_shifted(model, text, grown)).abs().max().item()
        if rule == "yarn":
            loud = logits(context(theirs, **flags, yarn_attn_factor=2.0), text)
            yield "--yarn-attn-factor is passed over", (loud - model(torch.tensor([text]))[0]).abs().max().item()


def main() -> str | None:
    native.llama_backend_init()
    with tempfile.TemporaryDirectory() as folder:
        found = list(differences(in_float32(str(Path(folder, "smollm2.gguf")))))
    for what, gap in found:
        print(f"{what}: {gap:.1e}")
    wrong = [what for what, gap in found if gap > 1e-2]
    return f"llama.cpp differs in {', '.join(wrong)}" if wrong else None


if __name__ == "__main__":
    sys.exit(main())
