// Writes the first two screens of the book, `front.html` and `own.html`, and the first one's picture for other pages, `front.svg`
// for a white ground and `front-dark.svg`: node book/front/write.mjs

import { readFileSync, writeFileSync } from 'node:fs';
import { picture, SAYS, sizes, START, STILL, SWAPPED, TOLD } from './front.js';

const here = name => new URL(name, import.meta.url), read = name => readFileSync(here(name), 'utf8');
(0, eval)(read('../_vendor/terser/bundle.min.js'));
/** A program as it stands in a page: short, and without what only other programs ask of it. */
const short = code => globalThis.Terser.minify_sync(code.replace(/^export /gm, ''), { module: true, format: { ascii_only: false } }).code;

const ALT = 'The fox jumps over the dog: arcs from jumps to every word, as wide as the attention weights, and the vector that jumps collects, as bars.';
const svg = (W, look, alt, ...state) => `<svg class="stage ${look}" viewBox="0 0 ${W} ${sizes(W).H}" preserveAspectRatio="xMidYMin" role="img" aria-label="${alt}">${picture(W, ...state)}</svg>`;

/** The first screen. What stands under `stills` is for who gets no film. */
export const front = () => `<style>${read('front.css')}</style>
<div class="front" role="group" aria-label="Move the words">
<p class="says">${SAYS.ask}</p>
${svg(848, 'wide', ALT)}
${svg(362, 'narrow', ALT)}
<div class="keys">
<label class="tell"><input type="checkbox" role="switch"><span>tell it where each word stands</span></label>
<button type="button" class="swap" aria-label="swap fox and dog">swap</button>
<button type="button" class="mix">shuffle</button>
<button type="button" class="play">Play</button>
<p class="hint"><svg viewBox="0 0 20 14" aria-hidden="true"><path d="M5 2L1 7l4 5M15 2l4 5l-4 5M1 7h18"/></svg> Drag a word.</p>
</div>
<div class="stills"><figure class="swapped"><figcaption>${STILL}</figcaption>${svg(362, 'then', 'The dog jumps over the fox, and no word is told where it stands: the same arcs and the same bars, changed by 0.00.', SWAPPED, false)}</figure>
<figure><figcaption>${TOLD}</figcaption>${svg(362, 'then', 'The dog jumps over the fox, with positions 0 to 5: the widest arc goes to the dog, and the bars differ from before by 0.93.', SWAPPED, true)}</figure></div>
<p class="made">Arcs: how much <em>jumps</em> listens to each word (its attention weights), in one head set by hand to look for an animal just before it. Here every word sees every other.</p>
<div class="sr" role="status"></div>
</div>
<script type="module">
${short(read('front.js'))}
</script>
`;

// The program of the second screen: the book's reader, which needs `encode` only for a model with sinusoids, a page, and what shows them.
const [, PAGE] = JSON.parse(read('../../d2lpos/figures/passages.json')).austen;
const OWN = `const { abs, cos, sin, max, min } = Math, PAGE = ${JSON.stringify(PAGE)};\n${read('../../d2lpos/figures/reader.js')}${read('own.js')}`;
export const own = await import(`data:text/javascript,${encodeURIComponent(OWN)}`);
globalThis.window = globalThis;
for (const name of ['rope', 'alibi']) (0, eval)(read(`../results/readers-${name}.js`));
/** What a model makes of a sentence behind so many characters of the page. */
export function judged(model, words, before, told) {
  const steps = own.judge(model, before, words, told);
  for (;;) { const { done, value } = steps.next(); if (done) return value; }
}

/** The second screen. What stands under `plain` is for who has no scripts. */
export function second() {
  const model = own.reader(globalThis.d2lposReaders.rope), n = own.OWN.length, far = own.stops(n).at(-1), base = judged(model, own.OWN, 0, true);
  const told = (on, before) => {
    const now = judged(model, own.OWN, before, on);
    return [own.inked(own.OWN, now), own.result({ told: on, before, n, now: own.count(now), base: own.count(base) })];
  };
  const [ink, line] = told(true, 0);
  return `<style>${read('own.css')}</style>
<div class="own" role="group" aria-label="A model reads your sentence">
<div class="live">
<div class="sheet"><div class="ink" aria-hidden="true">${ink}&#8203;</div><textarea spellcheck="false" autocapitalize="off" autocomplete="off" aria-label="Your sentence">${own.OWN}</textarea></div>
<div class="switch"><label class="tell"><input type="checkbox" role="switch" checked><span>tell it where each character stands</span></label><span class="key">sure <i></i> surprised</span></div>
<p class="result">${line}</p>
<div class="over"><input type="range" min="0" max="${far}" value="0" aria-label="Characters of another text before your sentence"><svg class="map" role="img" aria-label="How many characters of 100 the model guesses right, by how many stand before the sentence"></svg></div>
</div>
<div class="plain">${[[true, 0], [false, 0], [true, far]].map(state => told(...state)).map(([ink, line]) => `<p class="ink">${ink}</p><p><b>${line}</b></p>`).join('\n')}</div>
<div class="sr" role="status"></div>
</div>
<script type="module">
${short(`${OWN}for (const root of document.querySelectorAll('.own')) open(root, '_static/');`)}
</script>
`;
}

/** The picture by itself: the dog jumps, and attention was told the positions. */
export function alone(colors) {
  const { paper, ink, 'ink-2': quiet, fox, dog } = colors, { H } = sizes(848);
  const channel = (color, at) => parseInt(color.slice(at, at + 2), 16);
  const mix = (a, b, part) => '#' + [1, 3, 5].map(at => Math.round(part * channel(a, at) + (1 - part) * channel(b, at)).toString(16).padStart(2, '0')).join('');
  const look = `text{font:13px sans-serif;fill:${quiet}}.arcs path{stroke:${mix(ink, paper, .47)}}.arcs .k-fox{stroke:${fox}}.arcs .k-dog{stroke:${dog}}.arcs .k-jumps{stroke:${ink};stroke-linecap:round}
.beam{fill:${mix(dog, paper, .11)}}.tile{fill:${paper};stroke:${ink};stroke-width:1.5}.k-fox .tile{stroke:${fox}}.k-dog .tile{stroke:${dog}}.k-jumps .tile{fill:${ink}}
.word text{text-anchor:middle}.word .name{font:600 26px serif;fill:${ink}}.word .share{font-size:14px}.k-jumps .name,.k-jumps .share{fill:${paper}}.cap{font-size:15px}.em{font-style:italic;fill:${ink}}.most{font-size:44px;font-weight:650;fill:${ink}}
.places circle{fill:${ink};stroke:${paper};stroke-width:1.5}.places text{font:650 15px sans-serif;fill:${paper};text-anchor:middle}.zero{stroke:${quiet}}.bar{fill:${mix(dog, ink, .82)}}.ghost{fill:none;stroke:${ink};stroke-width:1.5;stroke-dasharray:3 3}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-2 0 852 ${H}" width="852" height="${H}"><style>${look}</style>${picture(848, SWAPPED, true)}</svg>\n`;
}

/** The colors of the pages, in the light and in the dark. */
export function themes() {
  const [, light, dark] = read('../_static/book.css').match(/^:root \{(.*?)^\}.*?\[data-theme="dark"\] \{(.*?)^\}/ms);
  return [light, dark].map(css => Object.fromEntries([...css.matchAll(/--([\w-]+):(#\w+)/g)].map(([, name, value]) => [name, value])));
}
const [light, dark] = themes();
export const files = { 'front.html': front(), 'own.html': second(), '../_static/front.svg': alone({ ...light, paper: '#ffffff' }), '../_static/front-dark.svg': alone(dark) };
if (process.argv[1] === here(import.meta.url).pathname) for (const name in files) writeFileSync(here(name), files[name]);
