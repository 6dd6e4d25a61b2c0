"""The style of the page, light and dark, and the script for its three keys."""

from __future__ import annotations

from typing import Final

LOOK: Final = """
:root { color-scheme: light dark; --insert: #dafbe1; --delete: #ffebe9; --change: #fff8c5; --move: #ddf4ff;
  --mark: #f2c94c; --faint: #59636e; --line: #d1d9e0; --page: #fff; --ink: #1f2328 }
@media (prefers-color-scheme: dark) { :root { --insert: #12361f; --delete: #4a1a1d; --change: #3d3312; --move: #122d42;
  --mark: #7a5c00; --faint: #9198a1; --line: #3d444d; --page: #0d1117; --ink: #e6edf3 } }
body { margin: 0 1rem 4rem; font: 14px/1.45 system-ui, sans-serif; background: var(--page); color: var(--ink) }
h1 { font-size: 1.15rem; overflow-wrap: anywhere } h2 { font-size: 1.05rem; margin: 2rem 0 0; overflow-wrap: anywhere }
section > p, header > p { margin: .2rem 0; color: var(--faint); overflow-wrap: anywhere }
kbd { border: 1px solid var(--line); border-radius: 3px; padding: 0 .3em }
dt { color: var(--faint) }
dl { display: grid; grid-template-columns: max-content max-content; gap: 0 1rem } dd { margin: 0 }
ol { list-style: none; padding: 0; max-height: 20rem; overflow: auto } li { padding: 1px .4rem; overflow-wrap: anywhere }
li b { display: inline-block; width: 1.2em } li i { display: inline-block; min-width: 7em; color: var(--faint) }
code, table { font: 12px/1.5 ui-monospace, monospace }
table { border-collapse: collapse; table-layout: fixed; width: 100% } col.n { width: 4.5em }
td { padding: 0 .4rem; white-space: pre-wrap; overflow-wrap: anywhere; vertical-align: top }
td:nth-child(odd) { text-align: right; color: var(--faint); user-select: none } td:nth-child(3) { border-left: 1px solid var(--line) }
tr.insert td:nth-child(n+3), li.insert { background: var(--insert) }
tr.delete td:nth-child(-n+2), li.delete { background: var(--delete) }
tr.change td, li.change { background: var(--change) } tr.move td, li.move { background: var(--move) }
mark { background: var(--mark); color: inherit; border-radius: 2px }
tr.far { display: none } body.all tr.far { display: table-row } body.all tr.gap { display: none }
tr.gap td { text-align: center; color: var(--faint); border: solid var(--line); border-width: 1px 0 }
tr:focus { outline: 2px solid #0969da; outline-offset: -2px }
"""

SCRIPT: Final = """
const stops = [...document.querySelectorAll('tr.stop')];
let at = -1;
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const step = { j: 1, k: -1 }[event.key];
  if (event.key === 'u') document.body.classList.toggle('all');
  if (!step || !stops.length) return;
  at = Math.min(Math.max(at + step, 0), stops.length - 1);
  stops[at].focus({ preventScroll: true });
  stops[at].scrollIntoView({ block: 'center' });
});
"""
