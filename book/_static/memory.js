// What a reader answered and finished, in this browser alone: nothing is sent. One entry of its storage for each kind,
// such as "predictions". Where the browser keeps nothing, this page still remembers, and `trouble` says so.
const memory = {
  trouble: "",
  unkept: new Map(),

  // All that is remembered of a kind, by id.
  all(kind) {
    try {
      if (!this.unkept.has(kind)) return {...this.read(kind)};
    } catch (error) {
      this.fail(error);
    }
    return {...this.unkept.get(kind)};
  },

  // True where the browser keeps it. Another tab may have written since, so each writing begins with a reading.
  write(kind, id, value) {
    const entries = this.all(kind);
    if (value === undefined) delete entries[id];
    else entries[id] = value;
    try {
      localStorage.setItem(`d2lpos:${kind}`, JSON.stringify(entries));
      this.unkept.delete(kind);
      this.trouble = "";
    } catch (error) {
      this.unkept.set(kind, entries);
      this.fail(error);
    }
    return !this.trouble;
  },

  // Empties a kind.
  forget(kind) {
    try {
      localStorage.removeItem(`d2lpos:${kind}`);
    } catch (error) {
      this.fail(error);
    }
    this.unkept.delete(kind);
  },

  read(kind) {
    const text = localStorage.getItem(`d2lpos:${kind}`);
    try {
      const entries = JSON.parse(text ?? "{}");
      if (entries?.constructor === Object) return entries;
    } catch {}
    this.trouble = "What this browser had kept for this book cannot be read, so it begins anew.";
    return {};
  },

  fail(error) {
    const why = error.name === "QuotaExceededError" ? "its storage is full" : "its storage is off";
    this.trouble = `This browser keeps nothing for the book, as ${why}: your answers last until you leave this page.`;
  },
};
if (typeof module === "object") module.exports = memory;
