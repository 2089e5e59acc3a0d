"""Mistakes of one line, written by hand: sixty in the core, sixty in masks, caches, the reader of configurations and the lab.

A row has the file, the tests that must notice, and the mistakes: a text that stands once in the file, an arrow, and what
stands in its place. `python -m pytest -m proof tests/core/test_mutants_by_hand.py` runs them.
"""

CORE = {
    ("d2lpos/rotary/rope.py", "tests/core/test_rope.py"): [
        "[a * cos - b * sin, b * cos + a * sin], dim=-1).to(x) → [a * cos + b * sin, b * cos - a * sin], dim=-1).to(x)",
        "torch.cat([-sin, sin], dim=-1) → torch.cat([sin, sin], dim=-1)",
        "torch.cat([cos, cos], dim=-1) → torch.cat([cos, sin], dim=-1)",
        "return (scale * angles.cos()).to(dtype) → return angles.cos().to(dtype)",
        "(-1, 2) if layout == \"half\" else (2, -1) → (2, -1) if layout == \"half\" else (-1, 2)",
        "[pairs.mT.flatten(-2), x[..., rotary:]] → [pairs.flatten(-2), x[..., rotary:]]",
        "convert(by_head, layout, rotary).movedim(-1, 1) → convert(by_head, layout).movedim(-1, 1)",
        "self.rotary = dim if rotary is None else rotary → self.rotary = dim",
        "self.turns(offsets, omega), self.layout → self.turns(offsets, omega), self.layout, _",
        "frequencies(self.rotary // self.axes, self.base) → frequencies(self.dim // self.axes, self.base)",
        "angle = angle.flatten(-2) → angle = angle.mT.flatten(-2)",
        "if rotary % 2 or rotary > dim → if rotary % 2 or rotary >= dim",
    ],
    ("d2lpos/rotary/scaling.py", "tests/core/test_scaling.py"): [
        "return frequencies / factor, 1.0\n\n\ndef ntk → return frequencies * factor, 1.0\n\n\ndef ntk",
        "last = len(frequencies) - 1\n → last = len(frequencies)\n",
        "max(current / length, 1) - (factor - 1) → max(current / length, 1) - factor",
        "0.1 * weight * math.log(factor) + 1 → 0.1 * weight * math.log2(factor) + 1",
        "first = (turns[0] / beta_fast) → first = (turns[0] / beta_slow)",
        "first, last = first.floor(), last.ceil() → first, last = first.ceil(), last.floor()",
        "last.clamp(max=2 * len(frequencies) - 1) → last.clamp(max=len(frequencies) - 1)",
        "(1 - divided + divided / factor), sharper → (1 - divided + divided / factor), 1.0",
        "long if current > length else short → long if current >= length else short",
        "math.log(factor) / math.log(length)) → math.log(factor) / math.log(current))",
        "turning = int(share * len(frequencies)) → turning = round(share * len(frequencies))",
        "[frequencies[::2], frequencies[1::2]] → [frequencies[1::2], frequencies[::2]]",
        "held[list(pairs)] = True → held[list(pairs)[:1]] = True",
        "((turns - low) / (high - low)).clamp(0, 1) → ((turns - low) / high).clamp(0, 1)",
        "(kept + (1 - kept) / factor), 1.0 → (kept + (1 - kept) / factor), factor",
    ],
    ("d2lpos/bias/t5.py", "tests/core/test_t5.py"): [
        "upper = buckets * (offsets > 0) → upper = buckets * (offsets >= 0)",
        "distance = (-offsets).clamp(min=0) → distance = offsets.clamp(min=0)",
        "exact = buckets // 2 → exact = buckets // 4",
        "math.log2(max_distance / exact) → math.log2(max_distance)",
        "torch.where(distance < exact → torch.where(distance <= exact",
        "far.clamp(max=buckets - 1) → far.clamp(max=buckets)",
        "clamp_(-far, far).add_(far) → clamp_(-far, far - 1).add_(far)",
    ],
    ("d2lpos/bias/kerple.py", "tests/core/test_kerple.py"): [
        "-r1 * torch.log1p(r2 * far), → -r1 * torch.log1p(far),",
        "-r1 * far**r2, → -r1 * (far + 1) ** r2,",
        "self.r1.abs()[head], self.r2.abs()[head] → self.r1[head], self.r2[head]",
        "r2.clamp(max=MOST) → r2.clamp(max=1)",
    ],
    ("d2lpos/bias/fire.py", "tests/core/test_fire.py"): [
        "torch.maximum(here.to(far), threshold.to(far)) → torch.minimum(here.to(far), threshold.to(far))",
        "/ torch.log1p(c.to(far) * reach) → / torch.log1p(reach)",
        "(x.abs().clamp(min=SMALLEST) for x in → (x.clamp(min=SMALLEST) for x in",
    ],
    ("d2lpos/input/sinusoids.py", "tests/core/test_sinusoids.py"): [
        "(dim - 2 if endpoint else dim) → (dim - 1 if endpoint else dim)",
        "for wave in (angle.sin(), angle.cos()) → for wave in (angle.cos(), angle.sin())",
        "torch.cat([sine, cosine], dim=-1) → torch.cat([cosine, sine], dim=-1)",
        "return x + sinusoidal( → return sinusoidal(",
    ],
    ("d2lpos/input/learned.py", "tests/core/test_learned.py tests/core/test_errors.py"): [
        "std * torch.randn(length, dim) → torch.randn(length, dim)",
        "as_index(positions, length=len(self.table)) → as_index(positions) % len(self.table)",
    ],
    ("d2lpos/offset/shaw.py", "tests/core/test_shaw.py"): [
        ".clamp(-clip, clip) + clip → .clamp(-clip, clip)",
        "/ math.sqrt(q.shape[-1]) → / q.shape[-1]",
        ".scatter_add(-1, rows, weights) → .scatter(-1, rows, weights)",
    ],
    ("d2lpos/positions/packing.py", "tests/core/test_packing.py"): [
        "begins[..., 1:] = segments.diff(dim=-1) != 0 → begins[..., 1:] = segments.diff(dim=-1) > 0",
        "last = torch.tensor([segments.numel()] → last = torch.tensor([segments.shape[-1]]",
        "prepend=positions[..., :1] - 1) != 1) → prepend=positions[..., :1] - 1) < 1)",
    ],
    ("d2lpos/positions/position_ids.py", "tests/core/test_position_ids.py"): [
        "(tokens.cumsum(dim=-1) - 1).clamp(min=0) → tokens.cumsum(dim=-1) - 1",
        "return index - (index * begins).cummax(dim=-1).values → return index - (index * begins).cumsum(dim=-1)",
        "positions.amax(dim=-1, keepdim=True) + → positions[..., -1:] +",
        "torch.arange(1, length + 1 → torch.arange(length",
        "torch.randint(largest + 1, → torch.randint(largest,",
        "topk(length).indices.sort().values → topk(length).indices",
    ],
    ("d2lpos/rotary/mrope.py", "tests/core/test_mrope.py"): [
        "return (dealt * omega.to(dealt)) → return (dealt * omega.to(dealt).flip(-1))",
    ],
}
REST = {
    ("d2lpos/transformer/masks.py", "tests/core/test_masks.py tests/core/test_axes_layers.py tests/core/test_rounding.py"): [
        "return row <= column → return row < column",
        "return column == row\n → return column <= row\n",
        "(column - window < row) & (row < column + window) → (column - window <= row) & (row < column + window)",
        "(column - window < row) & (row < column + window) → (column - window < row) & (row <= column + window)",
        "q, k = q.double(), k.double() → q, k = q.float(), k.float()",
        "mask[..., None, :, :] if mask.dim() == 3 else mask → mask[None] if mask.dim() == 3 else mask",
        "self.k_order[keys - q_positions.shape[-2] :] → self.k_order[: q_positions.shape[-2]]",
        "elif not causal:\n            self.everything = True → elif not causal:\n            self.everything = False",
        "(q.diff(dim=-1) > 0).all() → (q.diff(dim=-1) >= 0).all()",
        "(k.amax(dim=-1) <= q.amin(dim=-1)).all() → (k.amin(dim=-1) <= q.amin(dim=-1)).all()",
        "places.amax() - places.amin() < self.window → places.amax() - places.amin() <= self.window",
        "self.causal and not (rising | apart).all() → self.causal and not (rising & apart).all()",
        "window is None or self.window is not None and self.window <= window → window is None or self.window is not None",
        "return reduce(and_, masks) → return masks[0]",
    ],
    ("d2lpos/transformer/cache.py", "tests/core/test_cache.py tests/core/test_axes_layers.py"): [
        "return -1 if self.axes == 1 else -2 → return -1",
        "max(self.capacity, 2 * before, after) → max(self.capacity, 2 * before)",
        "kept is not self.filled[name] or → False or",
        "first, last = min(sinks, length), max(length - window, min(sinks, length)) → first, last = min(sinks, length), length - window",
        "x.narrow(axis, last, length - last) → x.narrow(axis, last, length - last - 1)",
        "cache.positions.narrow(cache.along, 0, length) → cache.positions.narrow(cache.along, 0, length) - 1",
        "cache.keys[..., :length, :], cache.values[..., :length, :] → cache.keys[..., :length, :], cache.values[..., -length:, :]",
        "moved.keys, moved.values = cache.keys[rows], cache.values[rows] → moved.keys, moved.values = cache.keys[rows], cache.values",
        "moved.positions = cache.positions[rows] if own → moved.positions = cache.positions if own",
        "if cache.rotated and \"rotate\" in encoding.doors: → if \"rotate\" in encoding.doors:",
        "signed(\"positions\", positions) - signed(\"positions\", cache.positions) → signed(\"positions\", cache.positions) - signed(\"positions\", positions)",
        "Cache(rotated=self.rotated, capacity=self.capacity, axes=self.axes) → Cache(rotated=self.rotated, capacity=self.capacity)",
        "new.shortest = self.shortest → pass",
        "if last > first:\n → if True:\n",
        "if length < cache.shortest: → if length <= cache.shortest:",
        "positions = positions.clone()\n → pass\n",
        "closed(encoding.axes) → closed(1)",
    ],
    ("d2lpos/config/rope.py", "tests/core/test_pretrained.py"): [
        "for kind in kinds if kind}) > 1: → for kind in kinds if kind}) > 2:",
        "common(old) != common(new) → False",
        "\"longrope\" if kind == \"yarn\" and \"short_factor\" in parameters else kind → kind",
        "10_000 * keys.first( → 10_000 + keys.first(",
        "\"partial_rotary_factor\": 0.5} → \"partial_rotary_factor\": 1}",
    ],
    ("d2lpos/config/rules.py", "tests/core/test_pretrained.py"): [
        "mscale(factor, whole) ** 2 if whole else 1.0 → mscale(factor, whole) if whole else 1.0",
        "\"low\": low, \"high\": high}, 1.0 → \"low\": low, \"high\": low}, 1.0",
    ],
    ("d2lpos/config/turn.py", "tests/core/test_pretrained.py"): [
        "share = 1 if whole and kind == \"default\" else parameters[\"partial_rotary_factor\"] → share = parameters[\"partial_rotary_factor\"]",
        "[start, start + dim] → [0, dim]",
        "dim = keys.first(row[\"full_dim\"][\"key\"], default=row[\"full_dim\"][\"default\"]) → pass",
    ],
    ("d2lpos/config/layer_types.py", "tests/core/test_pretrained.py"): [
        "(i - at) % period == 0 → (i - at + 1) % period == 0",
        "types[end] = FULL → pass",
        "[FULL if i < full else WINDOW → [FULL if i <= full else WINDOW",
        "WINDOW if i < last and i % 2 == 0 else → WINDOW if i < last else",
        "not period or (i + 1) % period != 0 → not period or i % period != 0",
        "number - 1 for number in lists[\"full_attn_layers\"] → number for number in lists[\"full_attn_layers\"]",
        "\"mlp\" if \"no_op\" in attention or \"replace_with_linear\" in attention else → \"mlp\" if \"no_op\" in attention else",
    ],
    ("d2lpos/config/indexers.py", "tests/core/test_pretrained.py"): [
        "max(i - first + 1, 0) % period == 0 → max(i - first, 0) % period == 0",
        "kind in (\"full\", \"F\") → kind == \"full\"",
    ],
    ("d2lpos/config/outer.py", "tests/core/test_pretrained.py tests/core/test_reading.py"): [
        "return {**text, **name} if by_class else {**name, **text} → return {**name, **text}",
    ],
    ("d2lpos/config/read.py", "tests/core/test_pretrained.py tests/core/test_reading.py"): [
        "if value is not False} → if True}",
        "check_values({**defaults, **own}) → pass",
    ],
    ("d2lpos/config/keys.py", "tests/core/test_pretrained.py tests/core/test_reading.py"): [
        "if key in words(\"keys\", \"says_no\") and value is False: → if key in words(\"keys\", \"says_no\"):",
    ],
    ("d2lpos/pretrained/build.py", "tests/core/test_pretrained.py"): [
        "scales[tokens > rule[\"length\"]] → scales[tokens >= rule[\"length\"]]",
    ],
    ("d2lpos/config/cache.py", "tests/core/test_serving.py"): [
        "return heads * (dim + (values → return heads * (0 + (values",
    ],
    ("d2lpos/config/angles.py", "tests/core/test_serving.py"): [
        "angle < 2 * math.pi and → angle < math.pi and",
        "(plain(encoding) if before else omega) → omega",
    ],
    ("d2lpos/config/stretch.py", "tests/core/test_serving.py"): [
        "-(-10_000 * tokens // length) / 10_000 → tokens // length",
    ],
    ("d2lpos/lab/summary.py", "tests/lab/test_summary.py"): [
        "t.ppf(0.975, n - 1) → t.ppf(0.95, n - 1)",
        "values.std() / n**0.5 → values.std() / n",
        "_interval(ours - theirs) → _interval(theirs - ours)",
        "ran[\"shortest\"] or ran[\"length\"] → ran[\"shortest\"]",
    ],
    ("d2lpos/lab/store.py", "tests/lab/test_store.py"): [
        "now - heartbeat > self.patience or _dead(holder) → now - heartbeat > self.patience",
        "now - heartbeat > self.patience or _dead(holder) → _dead(holder)",
        "if version != VERSION: → if version > VERSION:",
        "if place != _place() or os.name != \"posix\": → if os.name != \"posix\":",
    ],
}
# Mistakes that change nothing that anyone can see, and why.
EQUIVALENT = {
    "torch.where(distance < exact": "at this very distance both ways give the same bucket",
    "clamp_(-far, far).add_(far)": "the last bucket begins before the largest distance",
}
