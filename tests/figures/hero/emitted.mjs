// The module of a figure as Python sends it to a page. Node can import it: only `render` touches a document.
import { execFileSync } from 'node:child_process';
import assert from 'node:assert/strict';

const HERO = new URL('../../../d2lpos/figures/hero.py', import.meta.url);
export const emitted = (...name) => {
  const source = execFileSync(process.env.PYTHON ?? 'python3', [HERO.pathname, ...name], { encoding: 'utf8' });
  return import('data:text/javascript;base64,' + Buffer.from(source).toString('base64'));
};
export const near = (a, b, tol = 1e-12, why = '') => assert.ok(Math.abs(a - b) <= tol, `${why} ${a} vs ${b}`);
