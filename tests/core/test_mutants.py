"""The tests are tested: each plausible mistake in a copy of a module must make the module's own tests fail."""

import pytest

from tests.mutation.host import CORE, ROOT, Host

ONE_BY_ONE = "tests/core/test_masks.py::test_packed_texts_are_the_texts_one_by_one_on_both_paths[none-one row for all-True]"

LAYERS = "tests/core/test_layers.py"

# (file, its text, the mistake); the file's own tests must notice. Where the first that does comes late, it is named.
MUTANTS = {
    "offset is query minus key": ("positions", "return row - column", "return column - row"),
    "unsigned offsets wrap": (
        "positions",
        "return positions.long() if is_integer(positions) else positions",
        "return positions",
    ),
    "frequencies rise": ("sinusoidal", "base ** -(", "base ** ("),
    "exponent is i/dim": ("sinusoidal", "if endpoint else dim))", "if endpoint else 2 * dim))"),
    "cosine before sine": ("sinusoidal", "stack([sine, cosine]", "stack([cosine, sine]"),
    "layouts exchanged": ("sinusoidal", 'if layout == "interleaved"', 'if layout != "interleaved"'),
    "added in place of the token": ("learned", "return x + ", "return 0 * x + "),
    "rows shifted by one": ("learned", "self.table).to(x)", "self.table.roll(1, 0)).to(x)"),
    "turned the other way": ("rope", "scale * angles.sin()", "-scale * angles.sin()"),
    "sign of one sine": ("rope", "cat([a * cos - b", "cat([a * cos + b"),
    "wrong layout": ("rope", "a, b = wide.chunk(2, dim=-1)", "b, a = wide.chunk(2, dim=-1)"),
    "half precision is kept": (
        "rope",
        "torch.promote_types(x.dtype, angles.dtype)",
        "x.dtype",
        "test_in_every_dtype[dtype1-interleaved]",
    ),
    "keys turned by the queries' positions": ("rope", "turn(k, k_positions)", "turn(k, q_positions)"),
    "base forgotten": ("rope", "self.axes, self.base))", "self.axes))"),
    "frequencies of the whole head": (
        "rope",
        "frequencies(self.rotary // self",
        "frequencies(self.dim // self",
    ),
    "the last features turn": (
        "rope",
        "rotate_fast(x[..., : self.rotary]",
        "rotate_fast(x[..., -self.rotary :]",
    ),
    "the fast form turns pairs the other way": ("rope", "complex(cos, sin)", "complex(cos, -sin)"),
    "the fast form turns halves the other way": ("rope", "[-sin, sin]", "[sin, -sin]"),
    "the fast form forgets the factor": (
        "rope",
        'hands(angles, scale)\n    if layout == "half":\n        leading',
        'hands(angles, 1.0)\n    if layout == "half":\n        leading',
    ),
    "the fast form misreads odd memory": (
        "rope",
        "if pairs.stride(-1) != 1 or any(",
        "if False and any(",
        "test_features_that_do_not_turn_pass[interleaved]",
    ),
    "attention factor forgotten": ("rope", "self.layout, factor)", "self.layout)"),
    "attention factor on the cosine only": ("rope", "scale * angles.sin()", "angles.sin()"),
    "one axis for all pairs": ("rope", "turns.flatten(-2)", "turns[..., :1].expand_as(turns).flatten(-2)"),
    "converted the other way": ("rope", '(-1, 2) if layout == "half"', '(-1, 2) if layout != "half"'),
    "converted across heads": ("rope", "(heads, -1)).movedim(1, -1)", "(-1, heads)).movedim(0, -1)"),
    "frequencies multiplied": (
        "scaling",
        "return frequencies / factor, 1.0",
        "return frequencies * factor, 1.0",
    ),
    "all frequencies move": ("scaling", "last = len(frequencies) - 1", "last = len(frequencies)"),
    "short texts are stretched": ("scaling", "max(current / length, 1)", "(current / length)"),
    "nothing is taken off": ("scaling", " - (factor - 1))", ")"),
    "inverted ramp": ("scaling", "(1 - divided + divided / factor)", "(divided + (1 - divided) / factor)"),
    "betas exchanged": ("scaling", "(turns[0] / beta_fast)", "(turns[0] / beta_slow)"),
    "ramp begins a pair late": ("scaling", "= first.floor(),", "= first.ceil(),"),
    "ramp ends a pair early": ("scaling", ", last.ceil()", ", last.floor()"),
    "ramp below pair 0": ("scaling", "first.clamp(min=0)", "first"),
    "ramp always rounded": ("scaling", "    if truncate:", "    if True:"),
    "logarithm of the wrong base": ("scaling", "weight * math.log(factor)", "weight * math.log10(factor)"),
    "long list too early": ("scaling", "if current > length", "if current >= length"),
    "slow pairs turn, and fast ones not": (
        "scaling",
        "(indices(frequencies) < turning)",
        "(indices(frequencies) >= turning)",
    ),
    "the last step is left out": ("sinusoidal", "dim - 2 if endpoint else dim", "dim"),
    "eight octaves always": ("alibi", "-octaves / below", "-8 / below"),
    "the first step comes a token late": (
        "temperature",
        "real(positions) + counted",
        "real(positions) - counted",
    ),
    "a temperature of keys": ("temperature", "factors[..., None, :, None]", "factors[..., None, None, :]"),
    "cards from the first axis on": (
        "mrope",
        "deal[axis : axis + n * size : n]",
        "deal[axis - 1 : axis - 1 + n * size : n]",
    ),
    "one coordinate for all pairs": (
        "mrope",
        "[..., torch.tensor(self.deal",
        "[..., 0 * torch.tensor(self.deal",
    ),
    "Llama's ramp inverted": ("scaling", "(kept + (1 - kept) / factor)", "(1 - kept + kept / factor)"),
    "turns counted in radians": (
        "scaling",
        "length * frequencies / (2 * math.pi)\n    kept",
        "length * frequencies\n    kept",
    ),
    "future and past exchanged": ("relative", "(offsets > 0)", "(offsets < 0)"),
    "bucket off by one": ("relative", "far = exact + ", "far = exact + 1 + "),
    "near buckets end too early": ("relative", "distance < exact,", "distance < exact - 1,"),
    "final min forgotten": ("relative", "far.clamp(max=buckets - 1)", "far"),
    "transposed bias": ("relative", ".movedim(0, -3)", ".movedim(0, -3).mT"),
    "heads in another order": ("relative", "bidirectional), head]", "bidirectional), self.heads - 1 - head]"),
    "bias grows with the distance": ("alibi", "return -slope", "return slope"),
    "only the past has a distance": (
        "bias",
        "float32)).abs()",
        "float32)).clamp(max=0)",
        "test_gradients_of_both_forms_are_equal[kerple, logarithmic]",
    ),
    "distance in half precision": (
        "bias",
        "torch.promote_types(offset.dtype, torch.float32)",
        "offset.dtype",
        "test_distance_is_wide",
    ),
    "score_mod looks the other way": (
        "bias",
        "there[batch, key] - here[batch, query]",
        "here[batch, query] - there[batch, key]",
    ),
    "score_mod replaces the score": ("bias", "return score + at(", "return 0 * score + at("),
    "score_mod lets unsigned positions wrap": (
        "bias",
        "(p.long() if is_integer(p) else p)",
        "p",
        "test_score_mod_equals_the_tensor[t5-unsigned]",
    ),
    "query one before its vector": ("shaw", "clamp(-clip, clip) + clip", "clamp(-clip, clip) + clip - 1"),
    "clipped on one side": ("shaw", "clamp(-clip, clip)", "clamp(min=-clip)"),
    "key term without its scale": ("shaw", "keys.to(wide).mT / math.sqrt(q.shape[-1])", "keys.to(wide).mT"),
    "keys serve as values": ("shaw", "shares @ self.values", "shares @ self.keys"),
    "shares are counted": ("shaw", "(-1, rows, weights)", "(-1, rows, torch.ones_like(weights))"),
    "skewed the other way": ("skew", "(1, 0)", "(0, 1)"),
    "first row kept": ("skew", "[..., 1:, :]", "[..., :-1, :]"),
    "oldest vectors first": ("skew", "vectors[len(vectors) - length :]", "vectors[:length]"),
    "logarithm without its 1": ("kerple", "log1p(", "log("),
    "exponent on the whole": ("kerple", "-r1 * distance(offset) ** r2", "-((r1 * distance(offset)) ** r2)"),
    "forms exchanged": ("kerple", 'self.form == "logarithmic"', 'self.form != "logarithmic"'),
    "exponent beyond the theorem": ("kerple", "r2.clamp(max=2)", "r2"),
    "features of length 1": ("mlp", "math.sqrt(2 * angle", "math.sqrt(angle"),
    "raw positions": ("mlp", "[..., None] / self.length", "[..., None]"),
    "network under autocast": ("mlp", "enabled=False", "enabled=True, dtype=torch.bfloat16"),
    "network in half precision": ("mlp", "else real(positions)", "else real(positions).bfloat16()"),
    "normalized by the key": ("fire", "real(q_positions)", "real(k_positions)"),
    "no threshold": (
        "fire",
        "torch.maximum(real(q_positions).to(far), threshold.to(far))",
        "real(q_positions).to(far)",
    ),
    "share without logarithms": ("fire", "torch.log1p(c.to(far) * far)", "(c.to(far) * far)"),
    "sinusoid of key minus query": (
        "transformer_xl",
        "of_cosine * sine - of_sine * cosine",
        "of_sine * cosine - of_cosine * sine",
    ),
    "content bias forgotten": ("transformer_xl", "(content + products)", "products"),
    "position bias forgotten": ("transformer_xl", "(q.to(wide) + v[:, None])", "q.to(wide)"),
    "relative term without its scale": ("transformer_xl", " / math.sqrt(features)", ""),
    "angles in float32": (
        "transformer_xl",
        'angles(real(q_positions, "q_positions").double()',
        'angles(real(q_positions, "q_positions")',
    ),
    "lines as long as the window is high": ("swin", "(2 * width - 1) + right", "(2 * height - 1) + right"),
    "step from query to key": ("swin", "down, right = -offsets", "down, right = offsets"),
    "column before row": ("swin", "row, column = positions", "column, row = positions"),
    "coordinates end at 1": ("swin_v2", "/ math.log(8)", "/ math.log(9)"),
    "as many steps as cells": ("swin_v2", "max(height - 1, 1), max(width - 1, 1)", "height, width"),
    "coordinates without a sign": ("swin_v2", "steps.sign() * ", ""),
    "steps unstretched, as in the paper": ("swin_v2", "(8 * steps.abs() / longest)", "steps.abs()"),
    "measured by the window at hand": ("swin_v2", "if trained is None else (trained, trained)", "or trained"),
    "unbounded": ("swin_v2", "self.second, relu).sigmoid()", "self.second, relu)"),
    "columns before rows": ("swin_v2", "cartesian_prod(down, right)", "cartesian_prod(right, down)"),
    "heads in reverse": (
        "sandwich",
        "torch.arange(1, self.heads + 1, device=q.device)",
        "torch.arange(self.heads, 0, -1)",
    ),
    "ratio of heads forgotten": ("sandwich", "* self.heads / (8 * head)", "/ head"),
    "wrong slope rule": ("alibi", 'if rule == "paper"', 'if rule == "released"'),
    "every other slope, from the second": ("alibi", "number - below + 0.5", "number - below + 1"),
    "padding is counted": ("placing", "(tokens.cumsum(dim=-1) - 1)", "((tokens | True).cumsum(dim=-1) - 1)"),
    "padding stands before 0": ("placing", ".clamp(min=0)", ""),
    "segments never end": ("placing", "(index * begins).cummax(dim=-1).values", "(index * begins)"),
    "a token is repeated": ("placing", "torch.arange(1, length + 1", "torch.arange(length"),
    "counts on from the last": ("placing", "positions.amax(dim=-1, keepdim=True)", "positions[..., -1:]"),
    "stretched, not compressed": ("placing", "real(positions) / factor", "real(positions) * factor"),
    "one shift for the batch": ("placing", "(*positions.shape[:-1], 1)", "(1,)"),
    "largest shift left out": ("placing", "torch.randint(largest + 1,", "torch.randint(largest,"),
    "random order": ("placing", ".sort().values", ""),
    "one draw for the batch": (
        "placing",
        "torch.rand(batch, limit, generator=generator, dtype=torch.float)",
        "torch.rand(1, limit, generator=generator, dtype=torch.float).expand(batch, -1)",
    ),
    "the cache forgets": ("cache", "if kept is None else [kept, new]", ""),
    "the caller's own positions are kept": (
        "cache",
        "torch.cat([new] if kept is None else [kept, new], dim=axis)",
        "new if kept is None else torch.cat([kept, new], dim=axis)",
        "test_positions_may_be_counted_up_in_place[rope, half]",
    ),
    "the newest come first": ("cache", "[kept, new]", "[new, kept]"),
    "kept tokens are written over": (
        "cache",
        "room[..., before:after, :] = new",
        "room[..., : after - before, :] = new",
    ),
    "kept tokens do not move to more room": ("cache", "if before:", "if False:"),
    "another's keys are taken for what is in the room": ("cache", "or theirs or", "or"),
    "the first are evicted": ("cache", "x.narrow(axis, 0, first)", "x.narrow(axis, 0, 0)"),
    "the window begins late": ("cache", "max(length - window, ", "max(length - window + 1, "),
    "re-based the other way": (
        "cache",
        'signed("positions", positions) - signed("positions", cache.positions)',
        'signed("positions", cache.positions) - signed("positions", positions)',
    ),
    "re-based by the new position": ("cache", ' - signed("positions", cache.positions)', ""),
    "re-based keys grow": (
        "rope",
        "self.by(x, offsets, omega, factor=1.0)",
        "self.by(x, offsets, omega, _)",
        "tests/core/test_cache.py::test_re_based_keys_are_those_that_turned_there[positions0-yarn]",
    ),
    "turned keys are kept": ("attention", "if cache.turned:", "if True:"),
    "cached keys take new positions": (
        "attention",
        "attend(q, k, v, positions, mask.k_positions, ",
        "attend(q, k, v, positions, positions[..., -1:] - torch.arange(k.shape[-2]).flip(0), ",
    ),
    "keys of other heads": (
        "attention",
        "k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)",
        "k.repeat(1, q.shape[1] // k.shape[1], 1, 1)",
    ),
    "one cache for all layers": (
        "transformer",
        "[Cache(turned=turned, room=room) for _ in self.blocks]",
        "[Cache(turned=turned, room=room)] * len(self.blocks)",
    ),
    "axes forgotten": ("inputs", "axes = encoding.axes", "axes = 1", "tests/core/test_attention.py"),
    "axes forgotten in the layer": ("attention", "positions, self.encoding.axes)", "positions)"),
    "a refused call changes the cache": (
        "attention",
        "k, v = cache.joined_tokens(k, v)",
        "k, v = cache.keys, cache.values = cache.joined_tokens(k, v)",
    ),
    "nothing is remembered": (
        "attention",
        "cache.keys, cache.values, cache.positions, cache.read = k, v, mask.k_positions, read",
        "pass",
    ),
    "missing scale": ("attention", " / math.sqrt(q.shape[-1])", ""),
    "dropped mask": ("attention", "mask.pairs, q))", "None, q))"),
    "mask by head where it is by sequence": (
        "masks",
        "if mask.dim() == 3",
        "if mask.dim() == 5",
        "test_texts_that_are_found[by sequence]",
    ),
    "the present is hidden": ("masks", "row <= column", "row < column"),
    "the future is seen": ("masks", "row <= column", "row >= column"),
    "segments exchanged": ("masks", "return column == row", "return column != row", ONE_BY_ONE),
    "hidden rows are not zero": ("attention", ".masked_fill(hidden, 0)", ""),
    "far keys in few bits": ("attention", "bias.dtype.itemsize > q.dtype.itemsize", "False"),
    "score door forgotten": (
        "attention",
        "logits = logits + bias",
        "logits = logits",
        "test_attention_by_loops[t5-none]",
    ),
    "value door forgotten": (
        "attention",
        "weights @ shared(v, q) + extra",
        "weights @ shared(v, q)",
        "test_attention_by_loops[values-none]",
    ),
    "causal flag forgotten": ("attention", "mask, segments, self.causal,", "mask, segments, False,"),
    "mask replaces causality": ("masks", "if self.causal:", "if self.causal and not masks:", ONE_BY_ONE),
    "equal positions are in order": (
        "masks",
        "(q.diff(dim=-1) > 0)",
        "(q.diff(dim=-1) >= 0)",
        "test_every_path_gives_what_the_pairs_give_and_so_do_gradients[none-equal ones]",
    ),
    "any keys are in order": (
        "masks",
        "(q is k or torch.equal(q, k))",
        "True",
        "test_what_is_found[as many keys elsewhere]",
    ),
    "one sequence behind its keys is enough": (
        "masks",
        "<= q.amin(dim=-1)).all()",
        "<= q.amin(dim=-1)).any()",
        "test_what_is_found[before a cached token]",
    ),
    "the first token behind the keys is enough": ("masks", "q.amin(dim=-1)", "q.amax(dim=-1)"),
    "texts may fall": ("masks", "(rising | apart).all()", "True", "test_texts_that_are_found[fall]"),
    "texts may come again": (
        "masks",
        "not are_runs(segments)",
        "False",
        "test_texts_that_are_found[come again]",
    ),
    "one long text": (
        "attention",
        "by_text(turned_q, turned_k, v, mask)",
        "fused(turned_q, turned_k, v, is_causal=mask.causal)",
        ONE_BY_ONE,
    ),
    "one row of texts is short": ("attention", " * (batch * length // sum(mask.texts))", "", ONE_BY_ONE),
    "texts look ahead": ("attention", "is_causal=mask.causal", "is_causal=False", ONE_BY_ONE),
    "blocks see the keys ahead": (
        "attention",
        "over_heads(causal_mask(here, there)), q)",
        "None, q)",
        "tests/core/test_masks.py::test_queries_in_blocks_give_what_the_pairs_give[alibi]",
    ),
    "blocks of keys begin at the queries": (
        "attention",
        "slice(end - BLOCK, end), slice(end)",
        "slice(end - BLOCK, end), slice(end - BLOCK, end)",
        "tests/core/test_masks.py::test_queries_in_blocks_give_what_the_pairs_give[alibi]",
    ),
    "keys in order see all": ("attention", "v, is_causal=True)", "v, is_causal=False)"),
    "a text is shortened": (
        "packing",
        "begins[..., 1:] = segments.diff(dim=-1) != 0",
        "begins[..., 1:] = segments.diff(dim=-1) > 0",
    ),
    "texts go on in the next sequence": (
        "packing",
        "torch.ones_like(segments, dtype=torch.bool)",
        "torch.zeros_like(segments, dtype=torch.bool)",
    ),
    "a gap goes on": ("packing", "- 1) != 1)", "- 1) < 1)"),
    "door always open": ("encoding", "is not getattr(Encoding, method)", "is getattr(Encoding, method)"),
    "positions never embedded": ("transformer", "self.encoding.embed(", "Encoding().embed("),
    "residual forgotten": ("transformer", "x = x + self.attention", "x = self.attention"),
    "post-norm": ("transformer", "self.feed_forward(self.norm2(x))", "self.norm2(self.feed_forward(x))"),
    "mask never reaches a layer": (
        "transformer",
        "masks.get(block.attention.window, mask)",
        "None",
    ),
    "one side of the window": (
        "masks",
        "(column - window < row) & ",
        "",
        LAYERS,
    ),
    "a window too wide": (
        "masks",
        "row < column + window",
        "row <= column + window",
        LAYERS,
    ),
    "a window one token late": (
        "masks",
        "places.amin() < self.window",
        "places.amin() <= self.window",
        LAYERS,
    ),
    "a wider window replaces a narrow one": (
        "masks",
        "self.window <= window:",
        "self.window >= window:",
        LAYERS,
    ),
    "one window for all layers": (
        "transformer",
        "masks.get(block.attention.window, mask)",
        "masks.get(self.blocks[0].attention.window, mask)",
        LAYERS,
    ),
    "the first layer's encoding for all": (
        "transformer",
        "for encoding, window, temperature in zip(encodings,",
        "for encoding, window, temperature in zip([encodings[0]] * layers,",
        LAYERS,
    ),
    "keys are multiplied, too": (
        "attention",
        "q = multiply(q, positions, self.temperature)",
        "q, k = (multiply(x, positions, self.temperature) for x in (q, k))",
        LAYERS,
    ),
    "the sink is a key with a value": (
        "attention",
        ".softmax(dim=-1)[..., :-1]",
        ".softmax(dim=-1)[..., 1:]",
        "tests/core/test_sinks.py",
    ),
    "one sink for all heads": (
        "attention",
        "sinks.to(logits)[:, None, None]",
        "sinks.to(logits)[:1, None, None]",
        "tests/core/test_sinks.py",
    ),
    "sinks forgotten where PyTorch's program runs": (
        "attention",
        "sinks is not None or adds_values(encoding)",
        "adds_values(encoding)",
        "tests/core/test_sinks.py",
    ),
    "nothing is read from a cache": (
        "attention",
        "read = cache.joined_read(read)",
        "pass",
        "tests/core/test_fox.py",
    ),
    "what has gone is still read": (
        "cache",
        "left.read = None if cache.read is None else some(cache.read, -2)",
        "left.read = cache.read",
        "tests/core/test_content.py",
    ),
    "gates ahead count": (
        "content",
        "causal_mask(q_positions, k_positions)",
        "causal_mask(q_positions, q_positions.new_full(k_positions.shape, -9))",
    ),
    "hidden gates count": ("content", "counted & over_heads(visible)", "counted"),
    "the key's own gate": ("content", "right=own", "right=not own"),
    "gates in the order of the tokens": ("content", "sort(dim=-1, descending=True)", "sort(dim=-1)"),
    "gates are no logarithms": ("fox", "logsigmoid(wide)", "wide.sigmoid()"),
    "a gate for another query": ("fox", "read.mT", "read.mT.flip(-1)"),
    "gates of logits without their scale": ("cope", "q @ k.mT / math.sqrt(q.shape[-1])", "q @ k.mT"),
    "steps between rows": ("cope", "torch.lerp(below, above, p - p.floor())", "below"),
    "rows past the last": ("cope", "max=len(table) - 1", "max=len(table) - 2"),
    "the key is left out": ("cope", "own=True", "own=False"),
    "no reflection but forgetting": ("path", "2 * self.strength(x).sigmoid()", "self.strength(x).sigmoid()"),
    "directions of any length": ("path", "normalize(both[..., :-1], dim=-1)", "both[..., :-1]"),
    "the walk goes forth": ("path", "in reversed(list(tokens))", "in list(tokens)"),
    "all words change what passes": (
        "path",
        "torch.where(counts[..., None], q @ w_n[..., None], 0)",
        "q @ w_n[..., None]",
    ),
    "the plain product stays": ("path", "(walked - q @ k.mT)", "walked"),
    "words in the order of the tokens": (
        "path",
        "argsort(dim=-1, stable=True)",
        "sort(dim=-1, stable=True)[1].flip(-1)",
    ),
    "one profile too many": ("inkling", "distance < extent", "distance <= extent"),
    "keys ahead, too": ("inkling", "(distance >= 0) & ", ""),
    "numbers of the first tokens": (
        "inkling",
        "read[..., read.shape[-2] - q.shape[-2] :, :]",
        "read[..., : q.shape[-2], :]",
    ),
    "values turn back the other way": ("rope_values", "-signed(", "signed("),
    "values are stretched, too": (
        "rope_values",
        "return self.turn_on(v, k_positions)",
        "return self.turn(v, k_positions)",
    ),
    "the output is not turned back": (
        "attention",
        "return encoding.turn_back(y, q_positions)",
        "return y",
        "tests/core/test_rope_values.py",
    ),
}


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


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_killed(name, host, killers):
    file, old, new, *tests = MUTANTS[name]
    text = (ROOT / "d2lpos" / f"{file}.py").read_text("utf-8")
    assert text.count(old) == 1
    own = f"tests/core/test_{file}.py"
    named = [test if "/" in test else f"{own}::{test}" for test in tests]
    found = host.ask(named or [own], f"d2lpos.{file}", text.replace(old, new))
    assert found["code"] == pytest.ExitCode.TESTS_FAILED
    killers.add(found["failed"])
