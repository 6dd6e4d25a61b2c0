// Text of a user's file where VS Code reads more than text: its notifications make links, also to commands, of
// `[words](command:...)`, and its status bar makes icons of `$(name)`.

const LONGEST = 1000;

/** The text with neither links nor icons; shown it differs by a blank only. */
export function plain(text: string): string {
  const broken = text.replace(/\](?=\()/g, '] ').replace(/\$(?=\()/g, '$ ');
  return broken.length > LONGEST ? `${broken.slice(0, LONGEST)}…` : broken;
}
