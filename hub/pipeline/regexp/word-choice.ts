/**
 * Joins alternatives that begin alike, `foo|fob` to `fo(?:o|b)`. V8 does so itself for letters, but not for sets as
 * `[fF]`, of which it tries each at every character.
 */

import { hasCapture, type RegexpNode } from "./regexp-tree.ts";

/** A character of ASCII, whose cases are of no other such character. */
const CHARACTER = /^(?:[\x20-\x2d\x2f-\x7e]|\\[^A-Za-z0-9])$/;

/** Joined options within others; beyond it they stay as they are. */
const MAX_DEPTH = 16;

/** Returns options that match the same texts in the same order where case is ignored. */
export function joinedWords(options: readonly RegexpNode[], depth = 0): readonly RegexpNode[] {
  if (depth === MAX_DEPTH) return options;
  const joined: RegexpNode[] = [];
  const run = new Map<string, RegexpNode[]>();
  const endRun = (): void => {
    for (const alike of run.values()) joined.push(alike.length === 1 ? alike[0]! : joinedOf(alike, depth));
    run.clear();
  };
  for (const option of options) {
    const first = hasCapture(option) ? undefined : characterOf(itemsOf(option)[0]);
    if (first === undefined) {
      endRun();
      joined.push(option);
      continue;
    }
    // Options of different first characters exclude each other, so that their order has no effect.
    const alike = run.get(first);
    if (alike === undefined) run.set(first, [option]);
    else alike.push(option);
  }
  endRun();
  return joined;
}

/** Joins several options that begin with the same character. */
function joinedOf(options: readonly RegexpNode[], depth: number): RegexpNode {
  const words = options.map(itemsOf);
  const [first] = words as [readonly RegexpNode[]];
  const isShared = (at: number): boolean => {
    const character = characterOf(first[at]);
    return character !== undefined && words.every((items) => characterOf(items[at]) === character);
  };
  let length = 1;
  while (isShared(length)) length++;
  const rests = words.map((items): RegexpNode => ({ kind: "sequence", items: items.slice(length) }));
  const choice: RegexpNode = { kind: "choice", options: joinedWords(rests, depth + 1) };
  return { kind: "sequence", items: [...first.slice(0, length), choice] };
}

function itemsOf(option: RegexpNode): readonly RegexpNode[] {
  return option.kind === "sequence" ? option.items : [option];
}

/** Returns the character that a node matches, in lower case. */
function characterOf(node: RegexpNode | undefined): string | undefined {
  return node?.kind === "text" && CHARACTER.test(node.source) ? node.source.toLowerCase() : undefined;
}
