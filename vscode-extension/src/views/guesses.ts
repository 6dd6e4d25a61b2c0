// What a made ze_info says without being told, as comments above it.

/** The line is one of the text that the document was made from. */
export interface Guess {
  line: number;
  kernel: string;
  message: string;
}

/** The document with its guesses; they stay with it when it is saved. */
export function withGuesses(text: string, guesses: readonly Guess[]): string {
  return guesses.map((guess) => `# ${guess.kernel}, line ${guess.line}: ${guess.message.replace(/\s+/g, ' ')}\n`).join('') + text;
}
