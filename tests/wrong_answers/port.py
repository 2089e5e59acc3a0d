"""Wrong answers to the exercises of project 1."""

import torch

from d2lpos.check import port as check
from d2lpos.rotary.rope import permute_qk_rows

from . import wrong

# Port a file


def reordered(weight, heads, rotary):
    """Written with a list of rows, as a student would who thinks in indices."""
    d = len(weight) // heads
    order = [
        head * d + row
        for head in range(heads)
        for row in [*range(0, rotary, 2), *range(1, rotary, 2), *range(rotary, d)]
    ]
    return weight[order]


def is_part(name, parts):
    return any(f".{part}." in name for part in parts)


def heads_of(name, config):
    return config["heads"] if ".q." in name else config["kv_heads"]


def all_of(file, config, parts="qk", reorder=reordered):
    return {
        name: reorder(w, heads_of(name, config), config["rotary"]) if is_part(name, parts) else w
        for name, w in file.items()
    }


def heads_for_both(file, config):
    def reorder(weight):
        rows = weight.unflatten(0, (config["heads"], -1))
        some = rows[:, : config["rotary"]]
        return torch.cat([some[:, 0::2], some[:, 1::2], rows[:, config["rotary"] :]], dim=1).flatten(0, 1)

    return {name: reorder(w) if is_part(name, "qk") else w for name, w in file.items()}


@wrong(check.port, "The whole head moves.")
def without_rotary(file, config):
    return all_of(file, config, reorder=lambda w, heads, rotary: reordered(w, heads, len(w) // heads))


@wrong(check.port, "Property: written by hand")
def by_the_package(file, config):
    return all_of(file, config, reorder=lambda w, heads, rotary: permute_qk_rows(w, heads, "half", rotary))


wrong(check.port, "The result lacks blocks.0.attention.q.weight")(
    lambda file, config: {name: w for name, w in file.items() if ".q." not in name}
)


# The smallest input

RIGHT = {"values": [0], "keys": [3, 3], "base": [2, 9]}


def but(**changes):
    return RIGHT | changes


wrong(check.smallest, "One token shows it")(but(values=[4, 4]))
wrong(check.smallest, "Positions are asked for")(but(keys="two tokens"))
wrong(check.smallest, "Positions are asked for")(but(values=[]))


# Mend the loader


def filled(config, file, theta=None, layout="half", rotary=None):
    """A model with the file's tensors as they are."""
    sizes = config | {"rotary": rotary or config["rotary"]}
    model = check.empty(sizes, layout, theta or config["rope_parameters"]["rope_theta"])
    model.load_state_dict(check.together(file))
    return model


wrong(check.load, "The keys are cut into as many heads as the queries.")(
    lambda config, file: filled(config, heads_for_both(file, config))
)
wrong(check.load, "a model is asked for")(lambda config, file: check.together(all_of(file, config)))


# Mend the cache


def one_by_one(model, tokens, prompt, position):
    caches = model.new_caches()
    first = model(tokens[:prompt][None], torch.arange(prompt), caches=caches)
    later = [
        model(tokens[n : n + 1][None], torch.tensor([position(n)]), caches=caches)
        for n in range(prompt, len(tokens))
    ]
    return torch.cat([first, *later], dim=1)[0]


wrong(check.read_on, "Each new token stands at position 0.")(
    lambda model, tokens, prompt: one_by_one(model, tokens, prompt, lambda n: 0)
)
