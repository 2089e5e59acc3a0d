// What the page's reader makes of each file of standard input: an array of [text, questions] in JSON, where a question is a
// name and its arguments. Prints an array of arrays of answers, a refusal as its code, fields and sentence.
const fs = require("node:fs");
const path = require("node:path");

const folder = path.join(__dirname, "../../d2lpos/config/tables"), page = path.join(__dirname, "../../book/your-model");
const table = name => [path.parse(name).name, JSON.parse(fs.readFileSync(path.join(folder, name), "utf-8"))];
const tables = Object.fromEntries(fs.readdirSync(folder).map(table));
const r = require(path.join(page, "reader.js"))(tables), answers = require(path.join(page, "answers.js"))(r);
const {card, cardLines} = require(path.join(page, "card.js"))(r, answers);
const names = require(path.join(page, "names.js"))(tables), verdicts = require(path.join(page, "verdict.js"))(r, answers);

const turning = reading => reading.kinds.filter(answers.turns);
const ask = {
  read: reading => reading,
  sentence: (reading, ...asked) => answers.sentence(reading, ...asked),
  sight: reading => reading.kinds.map(layer => answers.sees(answers.sight(reading, layer, reading.lengths.allowed))),
  frequencies: (reading, tokens) => turning(reading).map(({encoding}) => [answers.plain(encoding), ...answers.inForce(encoding, tokens)]),
  slopes: reading => reading.kinds.filter(({encoding}) => encoding?.kind === "ALiBi").map(({encoding}) => answers.slopes(encoding)),
  memory: (reading, ...asked) => answers.memory(reading, ...asked),
  card: (reading, asked, file) => {
    const made = card(reading, file, asked);
    return [made, cardLines(made)];
  },
  traps: reading => answers.traps(reading).map(trap => [trap, answers.inWords(trap)]),
  settings: (reading, ...asked) => answers.settings(reading, ...asked),
  apply: (reading, config, ...asked) => answers.apply(config, answers.settings(reading, ...asked).edits),
  verdict(reading, ...asked) {
    const made = verdicts.verdict(reading, ...asked);
    return [made, verdicts.inWords(made), verdicts.capLines(made), verdicts.makers(reading, asked[1])];
  },
  written: (_, text) => verdicts.written(text),
  names: (_, text) => {
    const [release, near] = names.lookUp(text);
    return [release && [release.name, names.isCalled(release, text), names.loaded(release, text)], near.map(one => one.name)];
  },
};

function attempt(work) {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof r.Refused)) return {failed: error.stack};
    return {refused: error.code, fields: error.fields, sentence: error.message};
  }
}

const made = JSON.parse(fs.readFileSync(0, "utf-8")).map(([text, ignore, questions]) => {
  const reading = attempt(() => r.read(r.parse(text), ignore));
  if ("refused" in reading || "failed" in reading) return questions.map(() => reading);
  return questions.map(([name, ...asked]) => attempt(() => ask[name](reading, ...asked, ...(name === "card" ? [r.parse(text)] : []))));
});
process.stdout.write(JSON.stringify(made, (_, value) => (typeof value === "number" && !Number.isFinite(value) ? String(value) : value)));
