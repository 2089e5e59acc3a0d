"""Wrong answers to the exercises of project 1."""

import torch

from d2lpos.check import port as check
from d2lpos.rotary.rope import permute_qk_rows

from . import wrong


def all_of(file, config, reorder):
    heads = {"q": config["heads"], "k": config["kv_heads"], "v": None}
    return {name: reorder(w, cut) if (cut := heads.get(name.split(".")[-2])) else w for name, w in file.items()}


@wrong(check.port, "The whole head moves.")
def without_rotary(file, config):
    def reorder(weight, heads):
        rows = weight.unflatten(0, (heads, -1))
        return torch.cat([rows[:, 0::2], rows[:, 1::2]], dim=1).flatten(0, 1)

    return all_of(file, config, reorder)


@wrong(check.port, "Property: written by hand")
def by_the_package(file, config):
    return all_of(file, config, lambda w, heads: permute_qk_rows(w, heads, "half", config["rotary"]))


wrong(check.port, "The result lacks blocks.0.attention.q.weight")(
    lambda file, config: {name: w for name, w in file.items() if ".q." not in name}
)

RIGHT = {"values": [0], "keys": [3, 3], "base": [2, 9]}


def but(**changes):
    return RIGHT | changes


wrong(check.smallest, "One token shows it")(but(values=[4, 4]))
wrong(check.smallest, "Positions are asked for")(but(keys="two tokens"))
wrong(check.smallest, "Positions are asked for")(but(values=[]))


@wrong(check.load, "The keys are cut into as many heads as the queries.")
def heads_of_queries(config, file):
    model = check.empty(config, "half", config["rope_parameters"]["rope_theta"])
    model.load_state_dict(check.together(by_the_package(file, config | {"kv_heads": config["heads"]})))
    return model


wrong(check.load, "a model is asked for")(lambda config, file: check.together(by_the_package(file, config)))


@wrong(check.read_on, "Each new token stands at position 0.")
def always_at_0(model, tokens, prompt):
    caches = model.new_caches()
    rows = [model(tokens[None, :prompt], torch.arange(prompt), caches=caches)]
    rows += [model(token.view(1, 1), torch.tensor([0]), caches=caches) for token in tokens[prompt:]]
    return torch.cat(rows, dim=1)[0]
wrong(check.port, "every layer")("tensor in file.items(): → tensor in file.items():\n        if '.10.' in name:\n            continue")
wrong(check.port, "fails 1 of 7 properties Property: features past the rotary ones stay")(
    "heads[part], rotary → heads[part], rotary if tensor.dim() == 1 else len(tensor) // heads[part]"
)
wrong(check.load, "a model of halves is asked for")(lambda config, file: check.model_of(config, file, "interleaved"))

wrong(check.load, "rotary = 8, three layers")(
    'moved(file, turning(config), config["rotary"], "half") → {**file, **moved({n: w for n, w in file.items() if "s.2" not in n}, turning(config), config["rotary"], "half")}'
)
wrong(check.read_on, "several behind the prompt at once")(
    "range(prompt, len(tokens)):\n        rows.append(model(tokens[None, [at]], torch.tensor([at]), → range(prompt, len(tokens), 2):\n        rows.append(model(tokens[None, at : at + 2], torch.arange(len(tokens))[at : at + 2],"
)
