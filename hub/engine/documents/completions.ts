/** Values of `completion` fields: a text, or an object with texts, their weight and contexts. */

import * as json from "#hub/engine/json/scanner.ts";
import { ValueError } from "./values.ts";

/** Returns the term of an input: lower case, single spaces, at most `maxLength` UTF-16 units. */
export function completionTerm(input: string, maxLength: number): string {
  return input.slice(0, maxLength).trim().replace(/\s+/g, " ").toLowerCase();
}

/**
 * Reads the object that `scanner` has begun, to its end; `take` is called with the kind of each input while that is the
 * scanner's value. Throws ValueError, once all is read.
 */
export function readCompletion(scanner: json.JsonScanner, take: (kind: number) => void): void {
  let problem: ValueError | undefined;
  const input = (kind: number): void => {
    if (kind === json.STRING || kind === json.NUMBER) {
      take(kind);
      return;
    }
    scanner.skip(kind);
    problem ??= new ValueError("[input] of a completion must be text or an array of texts");
  };
  for (let first = true; scanner.key(first); first = false) {
    const name = scanner.text();
    const kind = scanner.value();
    if (name === "input" && kind === json.ARRAY) {
      for (let start = true; scanner.element(start); start = false) input(scanner.value());
    } else if (name === "input") {
      input(kind);
    } else if (name === "weight" && (kind === json.NUMBER || kind === json.STRING)) {
      if (!/^\d{1,10}$/.test(scanner.text()))
        problem ??= new ValueError(
          `[weight] of a completion must be a whole number from 0, but is [${scanner.text()}]`,
        );
    } else {
      scanner.skip(kind);
      // Contexts are read from _source when a search needs them.
      if (name !== "contexts")
        problem ??= new ValueError(`unknown field name [${name}], must be one of [input, weight, contexts]`);
    }
  }
  if (problem !== undefined) throw problem;
}
