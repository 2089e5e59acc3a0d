// Which sections of a chapter were read, and where its reader was last, in this browser alone. A section is read when its
// end has been in sight, and the section for a third of the time that it takes.
const reading = {
  pace: 12,  // words a second, three times as many as people read
  most: 60,  // seconds that are enough for any section

  // The seconds after which a section of so many words counts.
  needs: words => Math.min(reading.most, words / reading.pace),

  // A second has passed: what it adds to a section's {spent, ended} between `top` and `bottom`, in a window of a height.
  second(seen, {top, bottom}, height) {
    if (bottom <= 0 || top >= height) return seen;
    return {spent: seen.spent + 1, ended: seen.ended || bottom <= height};
  },

  // Where to go on: the first section from `here` on that is not read; null where all of these are.
  next: (keys, here, read) => keys.slice(Math.max(0, keys.indexOf(here))).find(key => !(key in read)) ?? null,

  // "chapters/04-rope#the-clock" for a link or an address in the book.
  key(address) {
    const root = new URL(document.documentElement.dataset.content_root, location.href), url = new URL(address, location.href);
    return url.pathname.slice(root.pathname.length).replace(/\.html$/, "") + url.hash;
  },

  address: key => document.documentElement.dataset.content_root + key.replace(/(#|$)/, ".html$1"),

  // Where the reader was, {key, page, section}; null before there is a place.
  last() {
    const {last} = memory.all("place");
    return typeof last?.key === "string" ? last : null;
  },

  // Keeps what is read of this page.
  watch(sections, after) {
    const page = reading.key(location.pathname), name = section => `${page}#${section.id}`, keys = sections.map(name);
    const heading = element => element.querySelector("h1, h2").firstChild.textContent.trim();
    const title = document.querySelector("article h1").cloneNode(true);
    title.querySelector(".headerlink")?.remove();
    const seen = new Map(sections.map(section => [section, {spent: 0, ended: false}]));
    const look = () => {
      if (document.hidden) return;
      for (const section of sections) {
        const now = {...seen.get(section), ...reading.second(seen.get(section), section.getBoundingClientRect(), innerHeight)};
        seen.set(section, now);
        if (now.ended && !now.done && (now.needs ??= reading.needs(section.innerText.split(/\s+/).length)) <= now.spent && (now.done = true)) memory.write("read", name(section), new Date().toISOString().slice(0, 10));
      }
      const here = sections.findLast(section => section.getBoundingClientRect().top < innerHeight / 2) ?? sections[0];
      if (seen.get(here).spent < 5) return;
      const key = reading.next(keys, name(here), memory.all("read")), section = sections[keys.indexOf(key)];
      const place = key ? {key, page: title.textContent.trim(), section: heading(section)}
        : after ? {key: reading.key(after.href), page: after.querySelector(".prev-next-title").textContent.trim(), section: ""} : null;
      if (place && reading.last()?.key !== place.key) memory.write("place", "last", place);
    };
    setInterval(look, 1000);
  },

  // Fills the link of a page that leads to where the reader was.
  lead(link) {
    const last = reading.last();
    if (!last) return;
    link.href = reading.address(last.key);
    link.ariaLabel = `Go on with ${last.page}${last.section && `, ${last.section}`}`;
    link.querySelector(".long").textContent = `with ${last.page}`;
    link.hidden = false;
  },
};
if (typeof module === "object") module.exports = reading;
else {
  if (/\/chapters\/|\/attention(\.html)?$/.test(location.pathname))
    reading.watch([...document.querySelectorAll(".bd-article > section > section[id]")], document.querySelector(".right-next"));
  for (const link of document.querySelectorAll(".go-on")) reading.lead(link);
}
