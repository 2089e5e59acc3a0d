// What the engine says of exported models: a list of {model, text, positions, rule, look} in, {tokens, logits, loss, look, top} out.
import { readFileSync } from 'node:fs';
import { emitted } from './emitted.mjs';

globalThis.window = globalThis; globalThis.d2lposReaders = undefined;
const { reader } = await emitted('machine');
const readers = {};
const said = JSON.parse(readFileSync(0, 'utf8')).map(job => {
  if (!d2lposReaders?.[job.model]) (0, eval)(readFileSync(job.file, 'utf8'));
  const one = readers[job.model] ??= reader(d2lposReaders[job.model]), tokens = one.tokens(job.text);
  try {
    const seen = [...one.read(tokens, job.positions ?? tokens.map((_, i) => i), job.rule)];
    return { tokens, seen, logits: [...one.logits()], loss: [...one.loss].slice(0, tokens.length), look: one.look(job.look ?? 0).map(w => [...w]), top: one.top(job.look ?? 0, 3) };
  } catch (error) { return { error: error.message }; }
});
process.stdout.write(JSON.stringify(said));
