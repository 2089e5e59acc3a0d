"""Mutants that change nothing which a test could see, and why. Each must still be made by a rule.

One is told by what it brings into a line or, with an arrow, by what it brings there in place of what.
"""

ONE_PLACE = "On a processor alone all is in one place."
AXES = "Of two axes, 1 is the last."
EQUIVALENT: dict[str, dict[str, str]] = {
    "d2lpos/bias/alibi.py": {"slopes[:, None, None]": "`ramp` moves the slopes, too."},
    "d2lpos/transformer/attention.py": {
        "itemsize >= q.dtype.itemsize": "Softmax sees differences only; this subtracts where it need not.",
        "torch.cat(blocks, dim=2)": "Of four axes, 2 is the last but one.",
    },
    "d2lpos/transformer/cache.py": {"change(self.hidden_features, 2)": "Of four axes, 2 is the last but one."},
    "d2lpos/transformer/flex.py": {"rows = batch": "A block mask of one row serves any batch, as one of no rows does."},
    "d2lpos/check/cases.py": {
        "super().__init__() → pass": "The class of torch has nothing to begin with.",
        "zip(outcome, names, strict=False)": "Two lines above, other lengths are refused.",
    },
    "d2lpos/check/verdict.py": {
        "frozen=True, repr=True": "A class with a `__repr__` of its own keeps it.",
        "if value is Tensor": "`deepcopy` copies them, too, in more time.",
    },
    "d2lpos/transformer/dropout.py": {"is_token, types, -2": "Any number below 0 will do: what is not kept is taken out."},
    "d2lpos/bias/fire.py": {"log1p(c * reach)": "A tensor without axes does not decide the dtype."},
    "d2lpos/lab/char_models.py": {"wanted < -1": "What is not asked for is −100."},
    "d2lpos/lab/digits.py": {"target[rows]).long() → target[rows])": "The classes are int64 already."},
    "d2lpos/lab/fingerprint.py": {
        "['tensorx', str": "Any word tells it from other kinds.",
        "(thing.fget, thing.fdel, thing.fset)": "Any order tells them apart.",
    },
    "d2lpos/lab/hybrid.py": {"min(CHOICES, len(row_positions))": "Each row has its position."},
    "d2lpos/lab/lines.py": {
        "path.name + '.draftx'": "Any name will do that no other file has.",
        "(ValueError, KeyError, TypeError)": "Kinds of errors have no order.",
    },
    "d2lpos/lab/inside.py": {
        "torch.ones_like(x[:, :])": "Of several constants, the least map uses each a little.",
        "torch.ones_like(x[:, :2])": "Of several constants, the least map uses each a little.",
        "lstsq(fitted, positions[:, None])": "Another driver of LAPACK for the same least squares.",
        "normalize(vectors, dim=1)": AXES,
        "normalize(vectors)": "Of two axes, 1 is the last, and the default.",
        "torch.arange(tokens.shape[1]))": ONE_PLACE,
        "torch.arange(tokens.shape[-1], device": AXES,
        "detach().double().clone()": ONE_PLACE,
        "vectors.double().flatten": ONE_PLACE,
        "states(model, tokens)": ONE_PLACE,
    },
    "d2lpos/lab/models.py": {"argsort(dim=1) <": AXES},
    "d2lpos/lab/packed.py": {'"interleaved"), tokens(probe)': ONE_PLACE},
    "d2lpos/lab/real_table.py": {"own(ids[0], torch.arange(ids.shape[1]))": ONE_PLACE},
    "d2lpos/lab/summary.py": {
        "sorted(side.index)": "An index that is gone through gives Python's integers, too.",
        "zip(by, where, strict=False)": "A group has one value for each column that it is made by.",
    },
    "d2lpos/lab/training.py": {
        "torch.zeros_like(right).bool() → torch.zeros_like(right)":
            "Where nothing is asked late, nobody takes what it would choose.",
        "max(2, 8192 // length)": "Only the memory that it takes differs.",
    },
    "d2lpos/bias/t5.py": {"bucket(torch.tensor(1)": "The other arguments are checked, whatever the offset."},
    "d2lpos/rotary/rope.py": {"if pairs.stride(-1) != 1 or ((n % 2 for n in": "Copies where it need not."},
    "d2lpos/offset/skew.py": {"q.shape[-1] != vectors.shape[1]": AXES},
    "d2lpos/transformer/model.py": {"check_encoding(encoding) → encoding": "The layers check it, too."},
    "d2lpos/transformer/programs.py": {
        "[SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]": "PyTorch has that program on a GPU alone.",
    },
}
