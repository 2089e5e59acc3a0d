// What the page makes of each entry of standard input, a list in JSON, as a list: of a text in base 64 what it loads of such a
// file, twice, the second time from a File; of a command and a configuration what the command does; of [text, names to ignore,
// questions] a list of answers, where a question is a name and its arguments. A refusal is its code, fields and sentence.
const fs = require("node:fs");
const path = require("node:path");

const folder = path.join(__dirname, "../../d2lpos/config/tables"), page = path.join(__dirname, "../../book/your-model");
const table = name => [path.parse(name).name, JSON.parse(fs.readFileSync(path.join(folder, name), "utf-8"))];
const script = name => require(path.join(page, `${name}.js`));
const tables = Object.fromEntries(fs.readdirSync(folder).map(table)), r = script("reader")(tables), answers = script("answers")(r);
const {card, cardLines} = script("card")(r, answers), names = script("names")(tables), verdicts = script("verdict")(r, answers);
const files = script("files")(r, answers), {ran} = script("commands")(r, answers), facts = script("facts")(answers);

const turning = reading => reading.kinds.filter(answers.turns);
const ask = {
  read: reading => reading,
  sentence: (reading, ...asked) => answers.sentence(reading, ...asked),
  sight: reading => reading.kinds.map(layer => answers.sees(answers.sight(reading, layer, reading.lengths.allowed))),
  frequencies: (reading, tokens) => turning(reading).map(({encoding}) => [answers.plain(encoding), ...answers.inForce(encoding, tokens)]),
  fresh: (reading, tokens, trained) => {
    const counted = group => facts.hands(group, facts.training(reading, {trained}), reading, reading, tokens).filter(({is}) => is === "new").length;
    return [...new Set(facts.groups(reading).map(counted))].sort((a, b) => a - b);
  },
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
  alike: (_, file) => names.alike(file)?.name ?? null,
};

async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof r.Refused)) return {failed: error.stack};
    return {refused: error.code, fields: error.fields, sentence: error.message};
  }
}
const each = work => list => Promise.all(list.map(work));
async function made(one) {
  if (typeof one === "string") {
    const bytes = Buffer.from(one, "base64");
    return [await attempt(() => files.load(bytes)), await attempt(() => files.open(new File([bytes], "the file")))];
  }
  if (one.length === 2) return attempt(() => ran(...one));
  const [text, ignore, questions] = one, reading = await attempt(() => r.read(r.parse(text), ignore));
  const asked = ([name, ...rest]) => ask[name](reading, ...rest, ...(["alike", "card"].includes(name) ? [r.parse(text)] : []));
  return each(question => ("refused" in reading || "failed" in reading ? reading : attempt(() => asked(question))))(questions);
}
const shown = (_, value) => (typeof value === "number" && !Number.isFinite(value) ? String(value) : value);
each(made)(JSON.parse(fs.readFileSync(0, "utf-8"))).then(all => process.stdout.write(JSON.stringify(all, shown)));
