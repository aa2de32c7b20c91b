/** For tests: random expressions that mean the same in Ruby and JavaScript, and texts of letters with many cases. */

const CHARACTERS = Array.from("aAbBkKsS1_ éÉßẞſ\u212aσςΣıİǅ😀𐐀𐐨");
const SETS = [
  "[a-d]",
  "[^s]",
  "[^S1]",
  "[à-ü]",
  "[^à-ü\\u212a]",
  "[\\x00-k]",
  "\\D",
  ".",
  "\\w",
  "\\W",
  "[^\\Wk]",
  "[\\w-]",
];
const OPENINGS = ["(?:", "(?=", "(?!", "(?<!"];
const MAX_DEPTH = 4;

/** Numbers from 0 to below `end`, the same for each seed. */
function numbers(seed: number): (end: number) => number {
  let state = seed;
  return (end) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
}

/** Returns the first match of random expressions behind an x, in random texts that begin with one; `compile` gets the expression. */
export function firstMatches(seed: number, count: number, compile: (text: string) => RegExp): string[] {
  const below = numbers(seed);
  const results: string[] = [];
  for (let at = 0; at < count; at++) {
    const text = sequence(below, 0, { groups: 0 });
    const expression = compile(text);
    const subject = Array.from({ length: 8 }, () => CHARACTERS[below(CHARACTERS.length)]).join("");
    results.push(`${text} in ${subject}: ${expression.exec(`x${subject}`)?.[0]}`);
  }
  return results;
}

type State = { groups: number };

function sequence(below: (end: number) => number, depth: number, state: State): string {
  let text = "";
  for (let items = 1 + below(3); items > 0; items--) text += item(below, depth, state);
  return below(4) === 0 ? `${text}|${item(below, depth, state)}` : text;
}

function item(below: (end: number) => number, depth: number, state: State): string {
  const kind = below(10);
  if (kind < 4 || depth === MAX_DEPTH) return character(below);
  if (kind < 5) return SETS[below(SETS.length)]!;
  if (kind < 6)
    return `${below(2) === 0 ? character(below) : SETS[below(SETS.length)]}${["+", "*", "?", "{1,2}"][below(4)]}`;
  if (kind < 7 && state.groups > 0) return `\\${1 + below(state.groups)}(?:)`;
  if (kind < 8 && state.groups < 9) {
    const body = sequence(below, depth + 1, { groups: 0 });
    // One that holds others would be closed after them.
    if (/\((?!\?)|\\\d/.test(body)) return `(?:${character(below)})`;
    state.groups++;
    return `(${body})`;
  }
  return `${OPENINGS[below(OPENINGS.length)]}${sequence(below, depth + 1, state)})`;
}

function character(below: (end: number) => number): string {
  return CHARACTERS[below(CHARACTERS.length)]!;
}
