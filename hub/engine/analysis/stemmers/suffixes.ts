/** Rules that cut endings from words: what most light stemmers consist of. */

/** Changes a word in lower case to its stem. */
export type Stemmer = (word: string) => string;

/**
 * The word must be longer than the number; one of the endings, separated by spaces, is cut, and the last text, if there is one,
 * replaces it.
 */
export type EndingRule = readonly [longerThan: number, endings: string, replacement?: string];

/** Returns a function that applies the first rule that matches, and no other. */
export function firstRule(rules: readonly EndingRule[]): Stemmer {
  const all = rules.map(([longerThan, endings, replacement = ""]) => ({
    longerThan,
    endings: endings.split(" "),
    replacement,
  }));
  return (word) => {
    for (const { longerThan, endings, replacement } of all) {
      if (word.length <= longerThan) continue;
      const ending = endings.find((each) => word.endsWith(each));
      if (ending !== undefined) return word.slice(0, -ending.length) + replacement;
    }
    return word;
  };
}

/** Returns whether the word ends with one of the texts, separated by spaces. */
export function endsWithAny(word: string, endings: string): boolean {
  return endings.split(" ").some((ending) => word.endsWith(ending));
}

/** Returns a function that replaces characters: `from[i]` by `to[i]`. */
export function replaceCharacters(from: string, to: string): Stemmer {
  const replacements = new Map(Array.from(from, (character, at) => [character, Array.from(to)[at]!]));
  const pattern = new RegExp(`[${from}]`, "gu");
  return (word) => word.replace(pattern, (character) => replacements.get(character)!);
}
