// What book/_static/reader.js makes of each file of standard input: an array of [text, questions] in JSON, where a question
// is a name and its arguments. Prints an array of arrays of answers, a sentence of refusal as {refused}.
const fs = require("node:fs");
const r = require("../../book/_static/reader.js")(require("../../book/_static/reader-data.js"));
const names = require("../../book/_static/reader-names.js")(r);

const ask = {
  read: (values, tokens, ignore) => r.read(values, tokens, ignore),
  settings: (values, ...said) => r.settings(values, ...said),
  cacheBytes: (values, ...said) => r.cacheBytes(values, ...said),
  newAngles: (values, trained, tokens, before) =>
    r.read(values, tokens).kinds.map(kind => (kind.encoding?.omega ? r.newAngles(kind, trained, tokens, before) : null)),
  lookUp: (_, text) => {
    const [release, near] = names.lookUp(text);
    return [release && [release.name, names.isCalled(release, text)], near.map(one => one.name)];
  },
  sentence: (values, tokens, trained, name) => r.sentence(r.read(values, tokens), trained, name),
};

const answers = JSON.parse(fs.readFileSync(0, "utf-8")).map(([text, questions]) =>
  questions.map(([name, ...said]) => {
    try {
      return ask[name](r.parse(text), ...said);
    } catch (error) {
      return {refused: error.message};
    }
  }),
);
process.stdout.write(JSON.stringify(answers, (_, value) => (value === Infinity ? "inf" : Number.isNaN(value) ? "nan" : value)));
