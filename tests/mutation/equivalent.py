"""Mutants that change nothing which a test could see, and why. Each must still be made by a rule."""

EQUIVALENT: dict[str, dict[tuple[str, str], str]] = {
    "d2lpos/bias/alibi.py": {
        (
            "return ramp(offset, slopes.to(offset.device)[:, None, None])",
            "return ramp(offset, slopes[:, None, None])",
        ): "`ramp` moves the slopes, too.",
    },
    "d2lpos/transformer/attention.py": {
        (
            (
                "if bias.dtype.itemsize > q.dtype.itemsize and both.shape[-1]: # only differences coun"
                "t: keep them small"
            ),
            (
                "if (bias.dtype.itemsize >= q.dtype.itemsize) and both.shape[-1]: # only differences c"
                "ount: keep them small"
            ),
        ): "Softmax sees differences only; this subtracts where it need not.",
    },
    "d2lpos/check/cases.py": {
        ("super().__init__()", "pass"): "The class of torch has nothing to begin with.",
        (
            "return [number(part, name) for part, name in zip(outcome, names, strict=True)]",
            "return [number(part, name) for part, name in zip(outcome, names, strict=False)]",
        ): "Two lines above, other lengths are refused.",
    },
    "d2lpos/check/verdict.py": {
        (
            "@dataclass(frozen=True, repr=False)",
            "@dataclass(frozen=True, repr=True)",
        ): "A class with a `__repr__` of its own keeps it.",
        (
            "if type(value) is Tensor and value.is_contiguous() and not value.requires_grad",
            "if value is Tensor and value.is_contiguous() and not value.requires_grad",
        ): "`deepcopy` copies them, too, in more time.",
    },
    "d2lpos/transformer/dropout.py": {
        (
            (
                "last = torch.where(kept, types, -1).diff(dim=-1, append=-2 * torch.ones_like(types[.."
                "., :1])) != 0"
            ),
            (
                "last = torch.where(kept, types, -2).diff(dim=-1, append=-2 * torch.ones_like(types[.."
                "., :1])) != 0"
            ),
        ): "Any number below 0 will do: what is not kept is taken out.",
    },
    "d2lpos/bias/fire.py": {
        (
            "return torch.log1p(c.to(far) * far) / torch.log1p(c.to(far) * reach)",
            "return torch.log1p(c.to(far) * far) / torch.log1p(c * reach)",
        ): "A tensor without axes does not decide the dtype.",
    },
    "d2lpos/lab/digits.py": {
        (
            "return torch.from_numpy(data.images[rows]).long(), torch.from_numpy(data.target[rows]).long()",
            "return torch.from_numpy(data.images[rows]).long(), torch.from_numpy(data.target[rows])",
        ): "The classes are int64 already.",
    },
    "d2lpos/lab/fingerprint.py": {
        (
            'return ["tensor", str(thing.dtype), thing.tolist()]',
            "return ['tensorx', str(thing.dtype), thing.tolist()]",
        ): "Any word tells it from other kinds.",
    },
    "d2lpos/lab/lines.py": {
        (
            'draft = path.with_name(path.name + ".draft")',
            "draft = path.with_name(path.name + '.draftx')",
        ): "Any name will do that no other file has.",
    },
    "d2lpos/lab/inside.py": {
        (
            "x = torch.cat([x, torch.ones_like(x[:, :1])], dim=1)",
            "x = torch.cat([x, torch.ones_like(x[:, :])], dim=1)",
        ): "Of several constants, the least map uses each a little.",
        (
            "x = torch.cat([x, torch.ones_like(x[:, :1])], dim=1)",
            "x = torch.cat([x, torch.ones_like(x[:, :2])], dim=1)",
        ): "Of several constants, the least map uses each a little.",
        (
            ('told = unseen @ torch.linalg.lstsq(fitted, positions[:, None], driver="gelsd").solution[:, 0]'),
            "told = unseen @ torch.linalg.lstsq(fitted, positions[:, None]).solution[:, 0]",
        ): "Another driver of LAPACK for the same least squares.",
        (
            "unit = normalize(vectors, dim=-1)",
            "unit = normalize(vectors, dim=1)",
        ): "Of two axes, 1 is the last.",
        (
            "unit = normalize(vectors, dim=-1)",
            "unit = normalize(vectors)",
        ): "Of two axes, 1 is the last, and the default.",
        (
            "model(tokens, torch.arange(tokens.shape[1], device=tokens.device))",
            "model(tokens, torch.arange(tokens.shape[1]))",
        ): "On a processor alone all is in one place.",
        (
            "return tables[0].detach().double().cpu().clone() if tables else None",
            "return tables[0].detach().double().clone() if tables else None",
        ): "On a processor alone all is in one place.",
        (
            "x = vectors.double().cpu().flatten(0, 1)",
            "x = vectors.double().flatten(0, 1)",
        ): "On a processor alone all is in one place.",
        (
            "for layer, vectors in enumerate(states(model, tokens.to(device))):",
            "for layer, vectors in enumerate(states(model, tokens)):",
        ): "On a processor alone all is in one place.",
    },
    "d2lpos/lab/real_table.py": {
        (
            "home = own(ids[0], torch.arange(ids.shape[1], device=device))",
            "home = own(ids[0], torch.arange(ids.shape[1]))",
        ): "On a processor alone all is in one place.",
    },
    "d2lpos/lab/summary.py": {
        (
            "seeds = [sorted(side.index.tolist()) for side in (ours, theirs)]",
            "seeds = [sorted(side.index) for side in (ours, theirs)]",
        ): "An index that is gone through gives Python's integers, too.",
        (
            'return " where " * bool(by) + ", ".join(f"{c} is {at!r}" for c, at in zip(by, where, strict=True))',
            'return " where " * bool(by) + ", ".join(f"{c} is {at!r}" for c, at in zip(by, where, strict=False))',
        ): "A group has one value for each column that it is made by.",
    },
    "d2lpos/lab/training.py": {
        (
            "asked_late = torch.cat(lates) if lates else torch.zeros_like(right).bool()",
            "asked_late = torch.cat(lates) if lates else torch.zeros_like(right)",
        ): "Where nothing is asked late, nobody takes what it would choose.",
        (
            "*(t.split(max(1, 8192 // length)) for t in sampler(rows, within, generator)), strict=True",
            "*(t.split(max(2, 8192 // length)) for t in sampler(rows, within, generator)), strict=True",
        ): "Only the memory that it takes differs.",
    },
    "d2lpos/lab/verdict.py": {},
    "d2lpos/bias/t5.py": {
        (
            "bucket(torch.tensor(0), buckets, max_distance, bidirectional) # bad arguments fail here",
            "bucket(torch.tensor(1), buckets, max_distance, bidirectional) # bad arguments fail here",
        ): "The other arguments are checked, whatever the offset.",
    },
    "d2lpos/rotary/rope.py": {
        (
            (
                "if pairs.stride(-1) != 1 or any(n % 2 for n in (*pairs.stride()[:-1], pairs.storage_o"
                "ffset())):"
            ),
            (
                "if pairs.stride(-1) != 1 or ((n % 2 for n in (*pairs.stride()[:-1], pairs.storage_off"
                "set()))):"
            ),
        ): "Copies where it need not.",
    },
    "d2lpos/offset/skew.py": {
        (
            "if q.dim() < 2 or vectors.dim() != 2 or q.shape[-1] != vectors.shape[-1]:",
            "if q.dim() < 2 or vectors.dim() != 2 or q.shape[-1] != vectors.shape[1]:",
        ): "Of two axes, 1 is the last.",
    },
    "d2lpos/transformer/model.py": {
        ("check_encoding(encoding)", "encoding"): "The layers check it, too.",
    },
}
