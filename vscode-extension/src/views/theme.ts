// The colours that a colour theme gives to code, as far as its file tells. Pure functions, no editor.

/** A theme's file, as far as it is about code. */
export interface ThemeFile {
  include?: string;
  tokenColors?: { scope?: string | string[]; settings?: { foreground?: string } }[] | string;
}

export interface Rule {
  scope: string;
  colour: string;
}

/**
 * For each kind of word on a page the scopes that the editor looks up for it, the first that a theme knows: those that it
 * has for our semantic tokens, then those of our grammar.
 */
const SCOPES: Record<string, string[]> = {
  mnemonic: ['keyword.control', 'keyword.other.instruction.visa'],
  modifier: ['storage.modifier.visa'],
  directive: ['entity.name.function.preprocessor', 'keyword.other.directive.visa'],
  label: ['entity.name.function.label.visa'],
  mask: ['variable.other.enummember', 'constant.language.mask.visa'],
  predefined: ['support.variable', 'variable.language.visa'],
  variable: ['variable.other.readwrite', 'entity.name.variable'],
  region: ['keyword.operator.region.visa'],
  type: ['entity.name.type', 'support.type', 'storage.type.visa'],
  number: ['constant.numeric.visa'],
  string: ['string.quoted.double.visa'],
  comment: ['comment.line.double-slash.visa'],
};

/** The JSON of a theme, which may have comments and commas too many. */
export function parseTheme(text: string): ThemeFile {
  const bare = text.replace(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (_, quoted: string | undefined) => quoted ?? '');
  return JSON.parse(bare.replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, (_, quoted: string | undefined) => quoted ?? '')) as ThemeFile;
}

/** The rules of a theme's files, the included ones first; those that ask for what is around a word do not count. */
export function rulesOf(files: ThemeFile[]): Rule[] {
  return files.flatMap(({ tokenColors }) =>
    (Array.isArray(tokenColors) ? tokenColors : []).flatMap(({ scope = [], settings }) => {
      const scopes = (Array.isArray(scope) ? scope : scope.split(',')).map((s) => s.trim());
      const colour = settings?.foreground;
      return colour === undefined ? [] : scopes.filter((s) => s !== '' && !s.includes(' ')).map((s) => ({ scope: s, colour }));
    }),
  );
}

/** The colour of each kind that the rules know. */
export function coloursOf(rules: Rule[]): Record<string, string> {
  const found = Object.entries(SCOPES).flatMap(([kind, scopes]) => {
    const colour = scopes.map((scope) => best(rules, scope)).find((c) => c !== undefined);
    return colour === undefined ? [] : [[kind, colour] as const];
  });
  return Object.fromEntries(found);
}

/** The longest selector wins, of equal ones the last. */
function best(rules: Rule[], scope: string): string | undefined {
  let found: Rule | undefined;
  for (const rule of rules) {
    const fits = scope === rule.scope || scope.startsWith(`${rule.scope}.`);
    if (fits && rule.scope.length >= (found?.scope.length ?? 0)) {
      found = rule;
    }
  }
  return found?.colour;
}
