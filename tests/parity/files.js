// What the page makes of each file of standard input, an array of bytes in base 64: an array of [config, notes] or refusals; of
// an array [command, config] in a file's place what the command does to the model.
const fs = require("node:fs");
const path = require("node:path");

const folder = path.join(__dirname, "../../d2lpos/config/tables"), page = path.join(__dirname, "../../book/your-model");
const table = name => [path.parse(name).name, JSON.parse(fs.readFileSync(path.join(folder, name), "utf-8"))];
const reader = require(path.join(page, "reader.js"))(Object.fromEntries(fs.readdirSync(folder).map(table)));
const answers = require(path.join(page, "answers.js"))(reader);
const files = require(path.join(page, "files.js"))(reader, answers), commands = require(path.join(page, "commands.js"))(reader, answers);

async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof reader.Refused)) return {failed: error.stack};
    return {refused: error.code, fields: error.fields, sentence: error.message};
  }
}
(async () => {
  const made = [];
  for (const one of JSON.parse(fs.readFileSync(0, "utf-8"))) {
    if (Array.isArray(one)) {
      made.push([await attempt(() => commands.ran(...one)), true]);
      continue;
    }
    const bytes = Buffer.from(one, "base64");
    const [loaded, opened] = [await attempt(() => files.load(bytes)), await attempt(() => files.open(new File([bytes], "the file")))];
    made.push([loaded, JSON.stringify(loaded) === JSON.stringify(opened)]);
  }
  process.stdout.write(JSON.stringify(made));
})();
