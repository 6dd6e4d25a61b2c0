// A line of vISA in coloured parts. The kinds are classes of views.css; their colours are the theme's (views/theme.ts).

const TOKEN =
  /(\/\/.*$)|("(?:[^"\\]|\\.)*")|(\.[A-Za-z_]\w*(?=\s|$))|(\bM[1-8](?:_NM)?\b|\bNoMask\b)|(%\w+)|(<[\d;, ]+>)|(:[a-z]+\b)|(\b0x[\da-fA-F]+\b|\b\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\b)|([A-Za-z_$@?][\w$@?]*)/g;
const KINDS = ['comment', 'string', 'directive', 'mask', 'predefined', 'region', 'type', 'number', 'variable'];
const LABEL = /^[A-Za-z_$@?][\w$@?-]*:\s*(?=$|\/\/)/;
const MNEMONIC = /^(\s*)(\(!?\w+(?:\.\w+)?\))?(\s*)([a-z]\w*)((?:\.\w+(?:<\d+>)?)*)(?=\s|$)/;

/** The kind and the text of each part; of what has no colour of its own the kind is empty. */
export type Part = [kind: string, text: string];

export function coloured(line: string): Part[] {
  const label = LABEL.exec(line)?.[0];
  if (label !== undefined) {
    return [['label', label], ...operands(line.slice(label.length))];
  }
  const found = MNEMONIC.exec(line);
  if (found === null) {
    return operands(line);
  }
  const [all, indent, predicate = '', gap, mnemonic, modifiers] = found;
  const head: Part[] = [['', indent!], ...operands(predicate), ['', gap!], ['mnemonic', mnemonic!], ['modifier', modifiers!]];
  return [...head.filter(([, text]) => text !== ''), ...operands(line.slice(all.length))];
}

function operands(text: string): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const found of text.matchAll(TOKEN)) {
    const kind = KINDS[found.slice(1).findIndex((group) => group !== undefined)]!;
    parts.push(['', text.slice(from, found.index)], [kind, found[0]]);
    from = found.index + found[0].length;
  }
  return [...parts, ['', text.slice(from)] satisfies Part].filter(([, part]) => part !== '');
}
