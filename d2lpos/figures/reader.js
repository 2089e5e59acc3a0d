// A Transformer that reads: the book's own (`d2lpos.Transformer`, causal), in typed arrays. What it returns is nats.
// Rows go through all layers in reading order, a few at a time, so a page can breathe between them, and what was read is kept.

const BREATH = 2, LONGEST = 512; // rows between two breaths; characters of a text
const LIKE = { '‘': "'", '’': "'", '“': '"', '”': '"', '–': '-', '—': '-', '…': '.', '\t': ' ', '\u00a0': ' ' };
/** How RoPE's frequency of pair i of n shrinks so that a text f times longer fits; d2lpos.rotary.scaling has the same rules. */
export const RULES = { 'as trained': () => 1, linear: (i, n, f) => 1 / f, ntk: (i, n, f) => f ** (-i / (n - 1)) };
/** T5's bucket of a key that stands `back` positions before the query. */
export const t5Bucket = (back, buckets, far, exact = buckets / 2) =>
  back < exact ? max(0, back) : min(buckets - 1, exact + Math.floor(Math.log2(back / exact) / Math.log2(far / exact) * (buckets - exact)));
/** ALiBi's slopes for a number of heads that is a power of two, and as released for others. */
const tolls = (n, below = 2 ** Math.floor(Math.log2(n))) => Float64Array.from({ length: n }, (_, h) => 2 ** (-8 / below * (h < below ? h + 1 : h - below + .5)));
const erf = x => { // Abramowitz and Stegun 7.1.26: within 1.5e-7
  const t = 1 / (1 + .3275911 * abs(x)), y = 1 - ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - .284496736) * t + .254829592) * t * Math.exp(-x * x);
  return x < 0 ? -y : y;
};

/** The tensors of an exported file by name: 8-bit numbers times the scale of their row, or floats already. First come all floats, then all 8-bit numbers. */
export function unpack({ shapes, weights }) {
  // A file of the site has text; the output of a cell brings bytes.
  const letters = weights.buffer ? '' : atob(weights), bytes = letters ? new Uint8Array(letters.length) : weights, { buffer } = bytes, tensors = {};
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const floats = shapes.map(([, rows, columns, kind]) => kind === 'q8' ? rows : rows * columns);
  let at = 0, small = 4 * floats.reduce((a, b) => a + b);
  shapes.forEach(([name, rows, columns, kind], k) => {
    const numbers = new Float32Array(buffer, at, floats[k]);
    at += 4 * floats[k]; tensors[name] = numbers;
    if (kind !== 'q8') return;
    const all = tensors[name] = new Float32Array(new Int8Array(buffer, small, rows * columns));
    for (let r = 0, i = 0; r < rows; r++) for (let c = 0; c < columns; c++) all[i++] *= numbers[r];
    small += all.length;
  });
  return tensors;
}

// What takes the time stands outside of models: code that is made for one of them would be slow for the next.
function affine(w, b, x, y) { // y = Wx + b
  for (let o = 0, k = 0, n = x.length; o < y.length; o++) {
    let s = b[o], t = 0, u = 0, v = 0;
    for (let i = 0; i < n; i += 4, k += 4) { s += w[k] * x[i]; t += w[k + 1] * x[i + 1]; u += w[k + 2] * x[i + 2]; v += w[k + 3] * x[i + 3]; }
    y[o] = s + t + u + v;
  }
}
function attend(q, keys, values, bias, weights, y, from, to) { // one head, whose features are from … to − 1: weights of all keys, and what they mix into y
  const dim = y.length, n = weights.length;
  let top = -Infinity, sum = 0;
  for (let k = 0; k < n; k++) {
    let s = bias[k];
    for (let a = from, b = k * dim + from; a < to; a++) s += q[a] * keys[b++];
    weights[k] = s; if (s > top) top = s;
  }
  for (let k = 0; k < n; k++) sum += weights[k] = Math.exp(weights[k] - top);
  for (let k = 0; k < n; k++) {
    const w = weights[k] /= sum;
    for (let a = from, b = k * dim + from; a < to; a++) y[a] += w * values[b++];
  }
}

/** A model that keeps what it has read. `read` goes on with a text, and then `loss`, `top` and `look` tell of it. */
export function reader(file) {
  const { card } = file, { encoding, d_model: dim, heads, layers, vocabulary } = card, T = unpack(file);
  const letters = [...vocabulary], ids = new Map(letters.map((c, i) => [c, i])), V = T['head.bias'].length;
  const size = dim / heads, pairs = size / 2, wide = 4 * dim, table = T['encoding.table'], slopes = tolls(heads);
  const buckets = table && table.length / heads, far = card.max_distance ?? 128, base = card.base ?? 10000, rows = table && table.length / dim;
  const f32 = n => new Float32Array(n), K = Array.from({ length: layers }, () => f32(LONGEST * dim)), W = K.map(() => f32(LONGEST * dim));
  const x = f32(dim), y = f32(dim), qkv = f32(3 * dim), mixed = f32(dim), hidden = f32(wide), scores = f32(LONGEST), bias = f32(heads * LONGEST);
  const logits = f32(LONGEST * V), loss = f32(LONGEST).fill(NaN);
  let had = { tokens: [], positions: [], rule: '' }, done = 0;

  const norm = (name, x, y) => {
    const g = T[name + '.weight'], b = T[name + '.bias'];
    let mean = 0, square = 0;
    for (let i = 0; i < dim; i++) mean += x[i] / dim;
    for (let i = 0; i < dim; i++) square += (x[i] - mean) ** 2 / dim;
    const scale = 1 / Math.sqrt(square + 1e-5);
    for (let i = 0; i < dim; i++) y[i] = (x[i] - mean) * scale * g[i] + b[i];
  };
  const linear = (name, x, y) => affine(T[name + '.weight'], T[name + '.bias'], x, y);
  const turn = (x, to, cos, sin) => {
    for (let h = to; h < to + dim; h += size) for (let i = 0; i < pairs; i++) {
      const a = x[h + i], b = x[h + i + pairs];
      x[h + i] = a * cos[i] - b * sin[i]; x[h + i + pairs] = b * cos[i] + a * sin[i];
    }
  };
  /** Take row i through the model, which has read those before. With `each`, tell it the weights of every layer and head. */
  function row(i, each) {
    const { tokens, positions, rule } = had, p = positions[i], n = i + 1, weights = scores.subarray(0, n);
    for (let j = 0; j < dim; j++) x[j] = T['tokens.weight'][tokens[i] * dim + j];
    if (encoding === 'learned') for (let j = 0; j < dim; j++) x[j] += table[min(p, rows - 1) * dim + j]; // past a table, its last row again
    if (encoding === 'sinusoidal') encode(p, dim, base).forEach((v, j) => { x[j] += v; });
    const angles = Float64Array.from({ length: pairs }, (_, k) => p * base ** (-k / pairs) * RULES[rule](k, pairs, LONGEST / card.train_length));
    const cos = angles.map(Math.cos), sin = angles.map(Math.sin);
    if (encoding === 'alibi' || encoding === 't5') for (let k = 0; k < n; k++) {
      const back = p - positions[k], from = encoding === 't5' && t5Bucket(back, buckets, far) * heads;
      for (let h = 0; h < heads; h++) bias[h * LONGEST + k] = from === false ? -slopes[h] * abs(back) : table[from + h];
    }
    for (let l = 0; l < layers; l++) {
      const at = `blocks.${l}.`, key = K[l], value = W[l];
      norm(at + 'norm1', x, y);
      linear(at + 'attention.project', y, qkv);
      if (encoding === 'rope') { turn(qkv, 0, cos, sin); turn(qkv, dim, cos, sin); }
      key.set(qkv.subarray(dim, 2 * dim), i * dim); value.set(qkv.subarray(2 * dim), i * dim);
      mixed.fill(0);
      for (let j = 0; j < dim; j++) qkv[j] /= Math.sqrt(size);
      for (let h = 0; h < heads; h++) {
        attend(qkv, key, value, bias.subarray(h * LONGEST, h * LONGEST + n), weights, mixed, h * size, (h + 1) * size);
        each?.(weights.slice());
      }
      linear(at + 'attention.out', mixed, y);
      for (let j = 0; j < dim; j++) x[j] += y[j];
      norm(at + 'norm2', x, y);
      linear(at + 'feed_forward.0', y, hidden);
      for (let j = 0; j < wide; j++) hidden[j] *= .5 * (1 + erf(hidden[j] * Math.SQRT1_2));
      linear(at + 'feed_forward.2', hidden, y);
      for (let j = 0; j < dim; j++) x[j] += y[j];
    }
    norm('norm', x, y);
    linear('head', y, logits.subarray(i * V, i * V + V));
  }
  /** log Σ exp of the logits of row i. */
  const total = i => { const z = logits.subarray(i * V, i * V + V), top = z.reduce((a, b) => max(a, b)); return top + Math.log(z.reduce((t, v) => t + Math.exp(v - top), 0)); };

  return { card, loss,
    /** The token of each character of a text, as d2lpos.pretrained.char_models has them: its own, that of one like it, or the unknown one. */
    tokens: text => Array.from(text.split(''), c => {
      const plain = (LIKE[c] ?? c).normalize('NFD')[0];
      return ids.get(c) ?? ids.get(plain) ?? ids.get(plain.toLowerCase()) ?? card.unknown;
    }),
    /** Read tokens at their positions, and yield how many are read, until all are. What begins as before is not read again. Raises RangeError for a text that is too long. */
    *read(tokens, positions, rule = 'as trained') {
      if (tokens.length > LONGEST || positions.length !== tokens.length)
        throw RangeError(`tokens must be at most ${LONGEST}, with a position each; got ${tokens.length} and ${positions.length}`);
      let same = 0;
      if (rule === had.rule) while (same < min(done, tokens.length) && tokens[same] === had.tokens[same] && positions[same] === had.positions[same]) same++;
      had = { tokens, positions, rule }; done = same; loss.fill(NaN, same);
      for (; done < tokens.length; done++) {
        const i = done, told = i && tokens[i] < letters.length;
        loss[i] = told ? total(i - 1) - logits[(i - 1) * V + tokens[i]] : NaN;
        row(i);
        if (i % BREATH === BREATH - 1) yield i + 1;
      }
      yield done;
    },
    /** The k likeliest characters for place i, each with its probability. */
    top(i, k) {
      if (!i) return [];
      const all = total(i - 1), share = letters.map((c, t) => [c, Math.exp(logits[(i - 1) * V + t] - all)]);
      return share.sort((a, b) => b[1] - a[1]).slice(0, k);
    },
    /** Where the heads look that have read place i: for each layer and head, a weight for every place up to it. */
    look(i) {
      const all = [];
      row(i, weights => all.push(weights));
      return all;
    },
    logits: () => logits.subarray(0, done * V) };
}
