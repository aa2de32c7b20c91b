/** Names and values that random events and options are made of. */

import type { Dice } from "../oracle/dice.ts";
import { type Hash, Time, type Value } from "./values.ts";

/** Fields of random events. */
const NAMES = ["a", "b", "c", "message", "n", "list", "d.ot", "ü", "x-1", "sp ace"];

/** References to fields that events may have, and to some that they never have. */
const REFERENCES = [
  ..."a a b b c message [a] [b] n [n][x] [n][x] [n][y] [n][deep][z] [list] [list][0] [list][-1] [list][1]".split(
    " ",
  ),
  ..."d.ot ü x-1 [@metadata][m] [@metadata][m] [@metadata][n][x] missing [n][missing] [a][x]".split(" "),
  "sp ace",
  "[sp ace]",
  "[n][in ner]",
];

const WORDS = [
  "one",
  "Two",
  "three four",
  "x",
  "ÄÖü",
  "ß",
  "日本語",
  "😀",
  "\ufb00i",
  "e\u0301",
  "a.b",
  "false",
  "true",
];
const BLANKS = [
  "",
  " ",
  "  x  ",
  "\tx\n",
  "\u00a0x\u00a0",
  "\u3000",
  "a  b",
  "\r\n",
  "\u0000x\u0000",
  "\u2028x",
];
const NUMERALS = [
  "0",
  "1",
  "-5",
  "007",
  "3.5",
  "1,234",
  "1.234,5",
  "1e3",
  "0x1F",
  "+7",
  " 42 ",
  "yes",
  "no",
  "1.0",
  ".5",
];

export function text(dice: Dice): string {
  return dice.pick([WORDS, WORDS, WORDS, BLANKS, NUMERALS, NUMERALS].map((list) => dice.pick(list)));
}

/** A text that pipelines' texts may have between quotes. */
export function word(dice: Dice): string {
  return dice.pick(WORDS);
}

export function scalar(dice: Dice): Value {
  const kind = dice.below(12);
  if (kind < 6) return text(dice);
  if (kind < 8) return BigInt(dice.between(-3, 12));
  if (kind < 9) return dice.pick([0.5, -2.25, 5, 100.125, 0]);
  if (kind < 10) return dice.chance(0.5);
  if (kind < 11)
    return dice.pick([null, 9_007_199_254_740_993n, -(2n ** 63n), 2n ** 63n - 1n, 12_345_678_901n]);
  return dice.chance(0.1) ? "long ".repeat(dice.between(50, 4_000)) : "";
}

export function value(dice: Dice, depth = 0): Value {
  const kind = depth > 2 ? 9 : dice.below(10);
  if (kind < 1) return dice.times(dice.below(4), () => value(dice, depth + 1));
  if (kind < 2) return dice.times(dice.below(4), () => text(dice));
  if (kind < 3) return hash(dice, depth);
  return scalar(dice);
}

function hash(dice: Dice, depth: number): Hash {
  const names = dice.some(["x", "y", "in ner", "d.ot"], dice.below(4));
  const made: Hash = new Map(names.map((name) => [name, value(dice, depth + 1)]));
  if (dice.chance(0.3)) made.set("deep", new Map([["z", scalar(dice)]]));
  return made;
}

/** Times of events: leap days, ends of years, ms. */
export function time(dice: Dice): Time {
  const days = dice.pick([
    "2024-02-29",
    "2023-12-31",
    "2021-01-03",
    "2026-11-30",
    "1999-07-04",
    "2020-12-28",
  ]);
  return new Time(Date.parse(`${days}T00:00:00Z`) + dice.below(86_400_000));
}

/** A random event; `message`: its main text. */
export function fields(dice: Dice, message: Value | undefined): Hash {
  const made: Hash = new Map([["@timestamp", time(dice)]]);
  if (message !== undefined) made.set("message", message);
  for (const name of dice.some(NAMES, dice.below(NAMES.length))) {
    if (name === "message") continue;
    if (name === "n") made.set(name, hash(dice, 0));
    else if (name === "list")
      made.set(
        name,
        dice.times(dice.below(4), () => value(dice, 1)),
      );
    else made.set(name, value(dice));
  }
  if (dice.chance(0.3)) made.set("tags", dice.some(["t1", "t2", "Ä"], dice.between(1, 2)));
  if (dice.chance(0.4)) {
    const metadata: Hash = new Map([["m", scalar(dice)]]);
    if (dice.chance(0.5)) metadata.set("n", new Map([["x", scalar(dice)]]));
    made.set("@metadata", metadata);
  }
  return made;
}

export function reference(dice: Dice): string {
  return dice.pick(REFERENCES);
}

/** A reference to a field that isn't below a plain value, mostly. */
export function target(dice: Dice): string {
  return dice.pick([
    "a",
    "b",
    "c",
    "new",
    "[n][x]",
    "[n][new]",
    "[new][x][y]",
    "[@metadata][m]",
    "[list][0]",
    "[sp ace]",
    "ü",
  ]);
}

/** A format: texts, fields and times. */
export function format(dice: Dice): string {
  const parts = dice.times(dice.between(1, 3), () => {
    const kind = dice.below(10);
    if (kind < 4) return dice.pick(["x", " ", "-", "ü", "%", "100%", "{a}", "😀"]);
    if (kind < 8) return `%{${reference(dice)}}`;
    return dice.pick(TIME_FORMATS);
  });
  return parts.join("");
}

const TIME_FORMATS = [
  "%{+yyyy.MM.dd}",
  "%{+YYYY-MM-dd'T'HH:mm:ss.SSS}",
  "%{+%s}",
  "%{+xxxx.ww}",
  "%{+EEE dd MMM yyyy}",
  "%{+EEEE d MMMM yy}",
  "%{+hh:mm a}",
  "%{+H:m:s}",
  "%{+DDD}",
  "%{+e}",
  "%{+HH:mm:ssZ}",
  "%{+ZZ}",
  "%{+KK kk}",
  "%{+SS}",
  "%{{yyyy-MM-dd}}",
  "%{{HH:mm:ss.SSS}}",
  "%{{EEE MMM d yyyy}}",
];
