// Writes the first screen of the book, `front.html`, and its picture for other pages, `front.svg` for a white ground and
// `front-dark.svg`: node book/front/write.mjs

import { readFileSync, writeFileSync } from 'node:fs';
import { picture, sizes, START, STILL, SWAPPED, TOLD } from './front.js';

const here = name => new URL(name, import.meta.url), read = name => readFileSync(here(name), 'utf8');
const ALT = 'The fox jumps over the dog: arcs from jumps to every word, as wide as the attention weights, and the vector that jumps collects, as bars.';
const svg = (W, look, ...state) => `<svg class="stage ${look}" viewBox="0 0 ${W} ${sizes(W).H}" preserveAspectRatio="xMidYMin" role="img" aria-label="${ALT}">${picture(W, ...state)}</svg>`;

/** The program without its comments and its indentation. */
const program = () => read('front.js').replace(/^ *(\/\/ .*|\/\*\* .*)\n/gm, '').replace(/ +\/\/ .*$/gm, '').replace(/^ +/gm, '');

/** What stands in the page. */
export const page = () => `<style>${read('front.css')}</style>
<div class="front" role="group" aria-label="Move the words">
${svg(848, 'wide')}
${svg(362, 'narrow')}
<p class="says">${STILL}</p>
<noscript><p class="says then">${TOLD}</p>${svg(848, 'then', SWAPPED, true)}</noscript>
<div class="keys">
<label class="tell"><input type="checkbox" role="switch"><span>tell it the positions <small>RoPE: queries and keys turn with their place</small></span></label>
<button type="button" class="swap">swap fox and dog</button>
<button type="button" class="mix">shuffle</button>
<button type="button" class="play">Play</button>
<p class="hint">Drag a word, or press ← → on it.</p>
</div>
<p class="made">Arcs: attention weights of <em>jumps</em>, in one head set by hand to look for an animal just before it.</p>
<div class="sr" role="status"></div>
</div>
<script type="module">
${program()}</script>
`;

/** The picture by itself: the dog jumps, and attention was told the positions. */
export function alone(colors) {
  const { paper, ink, 'ink-2': quiet, fox, dog } = colors, { H } = sizes(848);
  const channel = (color, at) => parseInt(color.slice(at, at + 2), 16);
  const mix = (a, b, part) => '#' + [1, 3, 5].map(at => Math.round(part * channel(a, at) + (1 - part) * channel(b, at)).toString(16).padStart(2, '0')).join('');
  const look = `text{font:13px sans-serif;fill:${quiet}}.arcs path{stroke:${mix(ink, paper, .47)}}.arcs .k-fox{stroke:${fox}}.arcs .k-dog{stroke:${dog}}.arcs .k-jumps{stroke:${ink};stroke-linecap:round}
.beam{fill:${mix(dog, paper, .11)}}.tile{fill:${paper};stroke:${ink};stroke-width:1.5}.k-fox .tile{stroke:${fox}}.k-dog .tile{stroke:${dog}}.k-jumps .tile{fill:${ink}}
.word text{text-anchor:middle}.word .name{font:600 26px serif;fill:${ink}}.word .share{font-size:14px}.k-jumps .name,.k-jumps .share{fill:${paper}}.cap{font-size:15px}.em{font-style:italic;fill:${ink}}.most{font-size:44px;font-weight:650;fill:${ink}}
.zero{stroke:${quiet}}.bar{fill:${mix(dog, ink, .82)}}.ghost{fill:none;stroke:${ink};stroke-width:1.5;stroke-dasharray:3 3}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-2 0 852 ${H}" width="852" height="${H}"><style>${look}</style>${picture(848, SWAPPED, true)}</svg>\n`;
}

/** The colors of the pages, in the light and in the dark. */
export function themes() {
  const [, light, dark] = read('../_static/book.css').match(/^:root \{(.*?)^\}.*?\[data-theme="dark"\] \{(.*?)^\}/ms);
  return [light, dark].map(css => Object.fromEntries([...css.matchAll(/--([\w-]+):(#\w+)/g)].map(([, name, value]) => [name, value])));
}
const [light, dark] = themes();
export const files = { 'front.html': page(), '../_static/front.svg': alone({ ...light, paper: '#ffffff' }), '../_static/front-dark.svg': alone(dark) };
if (process.argv[1] === here(import.meta.url).pathname) for (const name in files) writeFileSync(here(name), files[name]);
