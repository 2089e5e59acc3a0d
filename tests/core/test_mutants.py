"""The tests are tested: each plausible mistake in a copy of a module must make the module's own tests fail."""

from functools import cache
from pathlib import Path

import pytest

from tests.mutation.host import CORE, ROOT, Host
from tests.mutation.rules import mutants, named

# The file, behind a space the tests that must notice where its own do not or do late, and the mistakes. One with
# an arrow is made here: a text of the file, and what stands in its place. The others are made by the rules of
# tests/mutation/rules.py, and told by what they bring into a line.
MISTAKES = {
    "d2lpos/bias/alibi.py": ['if rule == "paper" → if rule == "released"', "-octaves / below → -8 / below",
        "number - below + 0.5 → number - below + 1", "return slope"],
    "d2lpos/transformer/attention.py": ["mask, segments, self.causal, → mask, segments, False,", "is_causal=False",
        "attend(q, k, v, positions, mask.k_positions,  → attend(q, k, v, positions, positions[..., -1:] - torch.arange(k.shape[-2]).flip(0), ",
        "k, v = cache.append_tokens(k, v) → k, v = cache.keys, cache.values = cache.append_tokens(k, v)",
        "cache.keys, cache.values, cache.positions = k, v, mask.copied_k_positions() → pass",
        "bias.dtype.itemsize > q.dtype.itemsize → False", "= (q.to(wide) @ repeat_kv(k, q).to(wide).mT)",
        "logits = logits + bias → logits = logits", "weights if hidden is None else weights)",
        "else (weights @ repeat_kv(v, q))", "if cache.rotated: → if True:", "mask.dense, q)) → None, q))"],
    "d2lpos/transformer/attention.py tests/core/test_reads.py": [
        "if not isinstance(mask, Mask) or positions is not mask.q_positions: → if False:",
        "remember(q_positions[..., queries], recall(q_positions)) → q_positions[..., queries]"],
    "d2lpos/transformer/attention.py tests/core/test_cache.py": ["hidden_features = cache.append_hidden_features(hidden_features) → pass"],
    "d2lpos/transformer/attention.py tests/core/test_layers.py": [
        "q = multiply(q, positions, self.temperature) → q, k = (multiply(x, positions, self.temperature) for x in (q, k))"],
    "d2lpos/transformer/attention.py tests/core/test_masks.py::test_packed_texts_are_the_texts_one_by_one_on_both_paths[none-one row for all-True]": [
        "varlen_attention(turned_q, turned_k, v, mask) → sdpa(turned_q, turned_k, v, is_causal=mask.causal)"],
    "d2lpos/transformer/programs.py tests/core/test_masks.py::test_packed_texts_are_the_texts_one_by_one_on_both_paths[none-one row for all-True]": [
        "is_causal=mask.causal → is_causal=False", "lengths = mask.doc_lens #"],
    "d2lpos/transformer/programs.py tests/core/test_attention.py": [
        "k.repeat_interleave(q.shape[1] // k.shape[1], dim=1) → k.repeat(1, q.shape[1] // k.shape[1], 1, 1)"],
    "d2lpos/transformer/attention.py tests/core/test_masks.py::test_queries_in_blocks_give_what_the_pairs_give[alibi]": [
        "slice(end - BLOCK, end), slice(end) → slice(end - BLOCK, end), slice(end - BLOCK, end)",
        "over_heads(causal_mask(here, there)), q) → None, q)"],
    "d2lpos/transformer/attention.py tests/core/test_rope_values.py": [
        "return encoding.unrotate_output(y, q_positions) → return y"],
    "d2lpos/transformer/attention.py tests/core/test_sinks.py": ["if adds_values",
        "sinks.to(logits)[:, None, None] → sinks.to(logits)[:1, None, None]",
        ".softmax(dim=-1)[..., :-1] → .softmax(dim=-1)[..., 1:]"],
    "d2lpos/bias/base.py": ["return score + at( → return 0 * score + at(", "query] - there["],
    "d2lpos/bias/base.py tests/core/test_base.py::test_distance_is_wide": ["to(offset.dtype)"],
    "d2lpos/bias/base.py tests/core/test_base.py::test_gradients_of_both_forms_are_equal[kerple, logarithmic]": [
        'exact_float("offset", offset).abs() → exact_float("offset", offset).clamp(max=0)'],
    "d2lpos/transformer/cache.py": ["room[..., before:after, :] = new → room[..., : after - before, :] = new",
        "torch.cat([new] if kept is None else [kept, new], dim=axis) → new if kept is None else torch.cat([kept, new], dim=axis)",
        "signed('positions', cache.positions) - signed('positions', positions)", "if before: → if False:",
        "max(length - window,  → max(length - window + 1, ", "keys, signed('positions', positions)",
        "x.narrow(axis, 0, first) → x.narrow(axis, 0, 0)", "([new], dim=axis)", "else [new, kept]",
        "is None or room"],
    "d2lpos/transformer/cache.py tests/core/test_distance.py": [
        "left.hidden_features = None if cache.hidden_features is None else some(cache.hidden_features, -2) → left.hidden_features = cache.hidden_features"],
    "d2lpos/content/distance.py": ["counted & visible → counted", "right=own → right=not own",
        "causal_mask(q_positions, k_positions) → causal_mask(q_positions, q_positions.new_full(k_positions.shape, -9))",
        "sort(dim=-1)"],
    "d2lpos/content/cope.py": ["len(table) - 2", "((q @ k.mT))", "return below", "own=False"],
    "d2lpos/content/decay.py": ["log_gate.exp() * state + k_t.mT @ v_t → log_gate.exp() * (state + k_t.mT @ v_t)",
        "torch.where(behind, gates[..., :, None], 0).cumsum(dim=-2) → gates.cumsum(dim=-1)[..., :, None] - gates.cumsum(dim=-1)[..., None, :]",
        "state = log_gate.exp() * state\n        state = state +  → state = log_gate.exp() * state + ",
        "reduce(torch.promote_types, (x.dtype for x in tensors), torch.float32) → tensors[0].dtype",
        "@ v_c + (q_c @ state)", "state = state + (left", "return sums.exp", "k_t.mT @ (v_t)",
        "state + (k_c)", "[:, None] >="],
    "d2lpos/encoding.py": ["method) is getattr("],
    "d2lpos/bias/fire.py": ["return (c.to(far) * far)", "reach = here.to"],
    "d2lpos/content/fox.py": ["logsigmoid(wide) → wide.sigmoid()", "hidden_features.mT → hidden_features.mT.flip(-1)"],
    "d2lpos/content/inkling.py": ["((distance < extent), at, 0)", "distance <= extent"],
    "d2lpos/content/inkling.py tests/core/test_cache.py": [
        "hidden_features[..., hidden_features.shape[-2] - q.shape[-2] :, :] → hidden_features[..., : q.shape[-2], :]"],
    "d2lpos/transformer/inputs.py tests/core/test_attention.py": ["axes = encoding.axes → axes = 1"],
    "d2lpos/bias/kerple.py": ["-r1 * far**r2 → -((r1 * far) ** r2)", "torch.log(r2",
        "distance(offset), r1, r2 if → distance(offset), r2, r1 if", "self.form !="],
    "d2lpos/input/learned.py": ["self.table).to(x) → self.table.roll(1, 0)).to(x)",
        "return x +  → return 0 * x + "],
    "d2lpos/transformer/masks.py": ["if self.causal: → if self.causal and not masks:", "not are_runs(segments := segments.long()) → False",
        "if mask.dim() == 3 → if mask.dim() == 5", "(q is k or torch.equal(q, k)) → True",
        "(rising | apart).all() → True", "row >= column",
        "column != row", "row < column"],
    "d2lpos/transformer/masks.py tests/core/test_layers.py": ["return (row < column + window)", "window >= window",
        "min(ends) <= self", "row <= column"],
    "d2lpos/transformer/mla.py": ["(torch.promote_types, (x.dtype for x in given.values()))", "math.sqrt(q.shape[-1])",
        "(q @ up @ c.mT)"],
    "d2lpos/input/mlp.py": ["else wide → else wide.bfloat16()", "math.sqrt(angle.shape[-1])",
        "enabled=False → enabled=True, dtype=torch.bfloat16", "widen(positions, x)[..., None], self.first"],
    "d2lpos/rotary/mrope.py": ["deal[axis : axis + n * size : n] → deal[axis - 1 : axis - 1 + n * size : n]",
        "[..., torch.tensor(self.deal → [..., 0 * torch.tensor(self.deal"],
    "d2lpos/positions/packing.py": ["- 1) != 1) → - 1) < 1)", "torch.zeros_like",
        "begins[..., 1:] = segments.diff(dim=-1) != 0 → begins[..., 1:] = segments.diff(dim=-1) > 0"],
    "d2lpos/content/path.py": ["argsort(dim=-1, stable=True) → sort(dim=-1, stable=True)[1].flip(-1)",
        "(q @ w_n[..., None])", "[..., :-1], both", "return (walked)", "counts in list", "beta = self."],
    "d2lpos/positions/position_ids.py": ["(tokens.cumsum(dim=-1) - 1) → ((tokens | True).cumsum(dim=-1) - 1)",
        "torch.rand(batch, limit, generator=generator, dtype=torch.float) → torch.rand(1, limit, generator=generator, dtype=torch.float).expand(batch, -1)",
        "positions.amax(dim=-1, keepdim=True) → positions[..., -1:]", "(*positions.shape[:-1], 1) → (1,)",
        "(index * begins).cummax(dim=-1).values → (index * begins)", "largest, sequences", "(positions) *",
        "torch.arange(1, length + 1 → torch.arange(length", ".sort().values → ", ".clamp(min=0) → "],
    "d2lpos/positions/checks.py": ["column - row"],
    "d2lpos/positions/looks.py tests/core/test_masks.py": ["(dim=-1)).any(", "bool((positions.diff(dim=-1) > 0) → bool((positions.diff(dim=-1) >= 0)", "q.amin(dim=-1)).all() → q.amax(dim=-1)).all()"],
    "d2lpos/positions/checks.py tests/core/test_reads.py": [
        "look._replace(private=True) → look", "low, high = extent(positions.clone()) → pass"],
    "d2lpos/positions/looks.py tests/core/test_reads.py": [
        "or positions._version else → else", "Look(k.low - q.high, k.high - q.low) → Look(k.low - q.low, k.high - q.high)",
        "if k.numel() == k.shape[-1] and q.numel() == q.shape[-1] → if True",
        "tuple(look) → look", ">= 2 ** BITS[torch.float32]: → > 2**62:",
        "max(first.high, second.high) → second.high"],
    "d2lpos/transformer/cache.py tests/core/test_reads.py": [
        'own_copy("positions", some(cache.positions, cache.along)) → remember(some(cache.positions, cache.along), recall(cache.positions))',
        'own_copy("positions", cache.positions.narrow(cache.along, 0, length)) → remember(cache.positions.narrow(cache.along, 0, length), recall(cache.positions))'],
    "d2lpos/positions/position_ids.py tests/core/test_reads.py": ["look.high if one_row else look.low → look.low", "look.high if one_row else look.low → look.high"],
    "d2lpos/bias/t5.py": ["bidirectional), head] → bidirectional), self.heads - 1 - head]", "(offsets < 0)",
        "distance < exact, → distance < exact - 1,", ".movedim(0, -3) → .movedim(0, -3).mT",
        "far = exact +  → far = exact + 1 + ", "distance, far)"],
    "d2lpos/rotary/rope.py": ["self.turned(q, turn_q), self.turned(k, turn_k) → self.turned(q, turn_q), self.turned(k, turn_q)",
        "turn(x[..., : self.rotary]) → turn(x[..., -self.rotary :])",
        "cos_sin(self.angles, self.scale, wide → cos_sin(self.angles, 1.0, wide",
        "angle.flatten(-2) → angle[..., :1].expand_as(angle).flatten(-2)", "(-1, 2) if (layout != 'half')",
        "frequencies(self.rotary // self → frequencies(self.dim // self", "Turn(self.turns(k_positions, → Turn(self.turns(q_positions,",
        "(heads, -1)).movedim(1, -1) → (-1, heads)).movedim(0, -1)", "self.turns(q_positions, omega), self.layout, factor → self.turns(q_positions, omega), self.layout",
        "if pairs.stride(-1) != 1 or any( → if False and any(", "complex(cos, sin) → complex(cos, -sin)",
        "scale * angles.sin() → -scale * angles.sin()", "(scale * angles.sin()).to(dtype) → angles.sin().to(dtype)",
        "(self.rotary // self.axes)", "(b, a) = wide.chunk(2", "cat([(a * cos + b", "[sin, -sin], dim",
        "x.to(x.dtype)"],
    "d2lpos/rotary/rope.py tests/core/test_cache.py::test_re_based_keys_are_those_that_turned_there[positions0-yarn]": [
        "self.turns(offsets, omega), self.layout → self.turns(offsets, omega), self.layout, _"],
    "d2lpos/rotary/rope.py tests/core/test_precompute.py": ["if here is q_positions and there is k_positions → if True",
        '"rotate", "turned", "both_turns" → "both_turns"',
        "if self.angles.is_inference() == torch.is_inference_mode_enabled() → if True"],
    "d2lpos/bias/base.py tests/core/test_precompute.py": ["if here is q_positions and there is k_positions → if True",
        "if queries > BLOCK or → if", 'if not may_share(self, (q_positions, k_positions), PositionBias, "score"): → if False:'],
    "d2lpos/encoding.py tests/core/test_precompute.py": ["(*positions, *encoding.parameters()) → positions", "(*positions, *encoding.parameters()) → encoding.parameters()",
        "method not in own and getattr → getattr"],
    "d2lpos/transformer/model.py tests/core/test_precompute.py": ["encodings[place] = own.precompute(positions, keys) → encodings[place] = own", "layers[id(own)] > 1 → True"],
    "d2lpos/rotary/rope_values.py": ["return self.rotate_further(v, k_positions) → return self.rotate_at(v, k_positions)",
        "remember(-positions → remember(positions"],
    "d2lpos/bias/sandwich.py": ["* self.heads / (8 * head) → / head",
        "torch.arange(1, self.heads + 1, device=products.device) → torch.arange(self.heads, 0, -1)"],
    "d2lpos/rotary/scaling.py": ["length * frequencies / (2 * math.pi)\n    kept → length * frequencies\n    kept",
        "(1 - divided + divided / factor) → (divided + (1 - divided) / factor)", "(frequencies * factor), 1",
        "(indices(frequencies) < turning) → (indices(frequencies) >= turning)", "* (current / length)",
        "(kept + (1 - kept) / factor) → (1 - kept + kept / factor)", "(factor * max(current / length, 1))",
        "last = len(frequencies) - 1 → last = len(frequencies)", "    if truncate: →     if True:",
        "first, last.clamp", "current >= length", "[0] / beta_slow", "first.ceil()", "last.floor()",
        "* math.log10"],
    "d2lpos/offset/shaw.py": ["(-1, rows, weights) → (-1, rows, torch.ones_like(weights))",
        "clamp(-clip, clip) + clip → clamp(-clip, clip) + clip - 1", "clamp(-clip, clip) → clamp(min=-clip)",
        "return (q.to(wide) @ self.keys.to(wide).mT)", "shares @ self.values → shares @ self.keys"],
    "d2lpos/input/sinusoids.py": ["if endpoint else dim)) → if endpoint else 2 * dim))", "!= 'interleaved",
        "(steps / (dim))", "base ** (steps", "stack([cosine,"],
    "d2lpos/offset/skew.py": ["vectors[len(vectors) - length :] → vectors[:length]", "[..., 1:, :] → [..., :-1, :]",
        "products, (0, 1)"],
    "d2lpos/bias/swin.py": ["right = offsets", "2 * height - 1", "(column, row)"],
    "d2lpos/bias/swin_v2.py": ["if trained is None else (trained, trained) → or trained", "return (8 * steps",
        "max(height - 1, 1), max(width - 1, 1) → height, width", "(8 * steps.abs() / longest) → steps.abs()",
        "self.second, relu).sigmoid() → self.second, relu)", "cartesian_prod(right, down)", "/ math.log(9)"],
    "d2lpos/transformer/temperature.py": ["factors[..., None, :, None] → factors[..., None, None, :]",
        "(positions) - counted"],
    "d2lpos/transformer/model.py": ["self.feed_forward(self.norm2(x)) → self.norm2(self.feed_forward(x))",
        "[Cache(rotated=rotated, capacity=capacity, axes=self.encoding.axes) for _ in self.blocks] → [Cache(rotated=rotated, capacity=capacity)] * len(self.blocks)",
        "masks.get(block.attention.window, mask) → None", "self.encoding.embed( → Encoding().embed(",
        "x = self.attention"],
    "d2lpos/transformer/model.py tests/core/test_layers.py": [
        "for encoding, window, temperature in zip(encodings, → for encoding, window, temperature in zip([encodings[0]] * layers,",
        "masks.get(block.attention.window, mask) → masks.get(self.blocks[0].attention.window, mask)"],
    "d2lpos/offset/transformer_xl.py": ['as_double(q_positions, "q_positions"), freq → as_double(k_positions, "q_positions"), freq',
        " / math.sqrt(features) → ", "cosine - of_cosine", "return (products)", "(q.to(wide))"],
}  # fmt: skip


@pytest.fixture(scope="module")
def host():
    with Host(*CORE) as host:
        yield host


@pytest.fixture(scope="module")
def killers(host):
    """The tests that have noticed a mutant. In the end, all must pass without one."""
    found = set()
    yield found
    assert host.ask(sorted(found)) | {"seconds": ...} == {"code": 0, "failed": None, "seconds": ...}


@cache
def made(file):
    return mutants((ROOT / file).read_text("utf-8"))


@pytest.mark.parametrize(
    ("place", "mistake"), [(place, one) for place in MISTAKES for one in MISTAKES[place]]
)
def test_mutant_is_killed(place, mistake, host, killers):
    file, _, tests = place.partition(" ")
    old, arrow, new = mistake.partition(" → ")
    if arrow:
        text = (ROOT / file).read_text("utf-8")
        assert text.count(old) == 1
        text = text.replace(old, new)
    else:
        ((*_, text),) = named(mistake, made(file))
    tests = tests or f"tests/core/test_{Path(file).stem}.py"
    found = host.ask([tests], file.removesuffix(".py").replace("/", "."), text)
    assert found["code"] == pytest.ExitCode.TESTS_FAILED
    killers.add(found["failed"])
