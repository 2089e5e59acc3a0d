"""Headers of GGUF files for tests, written by the gguf package with the keys that llama.cpp's converter writes."""

import math
import tempfile
from pathlib import Path

import numpy as np
from gguf import GGUFEndian, GGUFWriter

from d2lpos.config.angles import in_force, turns
from d2lpos.config.tables import entry

ORDERS = {"little": GGUFEndian.LITTLE, "big": GGUFEndian.BIG}


def written(arch, keys, tensors=(), order="little"):
    """The bytes of a file with these keys of its architecture, a vocabulary among them, and tensors."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.gguf"
        writer = GGUFWriter(path, arch, endianess=ORDERS[order])
        writer.add_token_list([f"token {i}" for i in range(300)])
        writer.add_token_scores([0.5] * 300)
        for key, value in keys.items():
            add = {bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32, str: writer.add_string, list: writer.add_array}
            add[type(value)](f"{arch}.{key}", value)
        writer.add_tensor("token_embd.weight", np.zeros((4, 8), np.float32))
        for name, numbers in dict(tensors).items():
            writer.add_tensor(name, np.array(numbers, np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return path.read_bytes()


def of_config(arch, text, reading):
    """A header for a model's text as its config.json has it, and the tensors with divisors of its frequencies."""
    known = entry(reading["family"])
    text = {**known.get("keys", {}), **text}
    text = {name: text[key] for name, key in known["aliases"].items() if key in text} | text
    heads = text["num_attention_heads"]
    dim = text.get("head_dim") or text["hidden_size"] // heads
    turning = next((one["encoding"] for one in reversed(reading["kinds"]) if turns(one)), {})
    keys = {
        "block_count": len(reading["layers"]),
        "embedding_length": text["hidden_size"],
        "attention.head_count": heads,
        "attention.head_count_kv": text.get("num_key_value_heads", heads),
        "attention.layer_norm_rms_epsilon": 1e-6,
    }
    if turning:
        keys |= {"rope.freq_base": float(turning["base"]), "rope.dimension_count": turning["rotary"]}
    keys |= {"context_length": reading["lengths"]["allowed"]} if reading["lengths"]["allowed"] else {}
    if "kv_lora_rank" in text and arch == "deepseek2":
        latent, rotary, whole = text["kv_lora_rank"], text["qk_rope_head_dim"], text["qk_nope_head_dim"] + text["qk_rope_head_dim"]
        keys |= {"attention.head_count_kv": 1, "attention.kv_lora_rank": latent, "attention.key_length": latent + rotary}
        keys |= {"attention.value_length": latent, "attention.key_length_mla": whole, "attention.value_length_mla": text["v_head_dim"]}
    elif "head_dim" in text:
        keys |= {"attention.key_length": dim, "attention.value_length": dim}
    if not all(one["attends"] for one in reading["kinds"]):
        attends = [reading["kinds"][kind]["attends"] for kind in reading["layers"]]
        keys["attention.head_count_kv"] = [keys["attention.head_count_kv"] if one else 0 for one in attends]
    keys |= {} if reading["causal"] else {"attention.causal": False}
    windows = {one["window"] for one in reading["kinds"]} - {None}
    keys |= {"attention.sliding_window": windows.pop()} if len(windows) == 1 else {}
    stretch, tensors = turning.get("rule") or {}, {}
    if stretch.get("kind") in ("yarn", "linear"):
        keys |= {"rope.scaling.type": stretch["kind"], "rope.scaling.factor": float(stretch["factor"])}
    if stretch.get("kind") == "yarn":
        keys |= {"rope.scaling.original_context_length": stretch["length"]}
        weight = (text.get("rope_scaling") or {}).get("mscale_all_dim")
        keys |= {"rope.scaling.yarn_log_multiplier": 0.1 * weight} if weight else {}
    if stretch.get("kind") == "llama3":
        pairs = zip(in_force(turning | {"rule": None})[0], in_force(turning)[0], strict=True)
        tensors = {"rope_freqs.weight": [one / other for one, other in pairs]}
    if stretch.get("kind") == "longrope":
        keys |= {"rope.scaling.original_context_length": stretch["length"]}
        keys |= {"rope.scaling.attn_factor": math.sqrt(1 + math.log(stretch["factor"]) / math.log(stretch["length"]))}
        tensors = {f"rope_factors_{name}.weight": stretch[name] for name in ("short", "long")}
    if "deal" in turning:
        keys["rope.dimension_sections"] = [*(turning["deal"].count(axis) for axis in range(3)), 0]
    return keys, tensors
