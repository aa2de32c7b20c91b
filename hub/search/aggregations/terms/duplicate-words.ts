/** Passages that stand in several documents word by word, such as a signature or a copied notice, so that they count once. */

/** Words that have to follow one another in two documents to be a copy. */
const PASSAGE_WORDS = 6;

/** Passages that are remembered; later ones are never found to be copies. */
const MAX_PASSAGES = 200_000;

export class DuplicateWords {
  readonly #seen = new Set<string>();

  /** Returns the words of a document that don't stand in a passage of one before it, and remembers its passages. */
  fresh(words: readonly string[]): string[] {
    const copied = new Uint8Array(words.length);
    const passages: string[] = [];
    for (let at = 0; at + PASSAGE_WORDS <= words.length; at++) {
      const passage = words.slice(at, at + PASSAGE_WORDS).join("\u0000");
      if (this.#seen.has(passage)) copied.fill(1, at, at + PASSAGE_WORDS);
      else passages.push(passage);
    }
    for (const passage of passages) if (this.#seen.size < MAX_PASSAGES) this.#seen.add(passage);
    return words.filter((_, at) => copied[at] === 0);
  }
}
