/** Lucene's regular expressions as a syntax tree. The whole term has to match; there are no anchors. */

import { AppError } from "#proto/kit/errors.ts";
import { decimalInterval } from "./decimal-interval.ts";
import { REGEXP_FLAGS } from "./regexp-flags.ts";
import type { Node } from "./regexp-tree.ts";

/** Maximum number of repetitions: each adds states to the automaton. */
const MAX_REPEAT = 1000;

/** Nested groups. */
const MAX_DEPTH = 100;

/** Any character. */
const ANY: Node = { kind: "set", ranges: [], negated: true };

const SHORTHANDS: Readonly<Record<string, Node>> = {
  d: { kind: "set", ranges: [[48, 57]], negated: false },
  D: { kind: "set", ranges: [[48, 57]], negated: true },
  w: {
    kind: "set",
    ranges: [
      [48, 57],
      [65, 90],
      [95, 95],
      [97, 122],
    ],
    negated: false,
  },
  W: {
    kind: "set",
    ranges: [
      [48, 57],
      [65, 90],
      [95, 95],
      [97, 122],
    ],
    negated: true,
  },
  s: {
    kind: "set",
    ranges: [
      [9, 13],
      [32, 32],
    ],
    negated: false,
  },
  S: {
    kind: "set",
    ranges: [
      [9, 13],
      [32, 32],
    ],
    negated: true,
  },
};

/** Nothing. */
const NOTHING: Node = { kind: "set", ranges: [], negated: false };

/** Largest number of an interval, as other servers read it. */
const MAX_INTERVAL = 2 ** 31 - 1;

/**
 * Parses an expression with the operators of `flags`, a sum of REGEXP_FLAGS. Throws request_invalid with the position
 * of the fault.
 */
export function parseRegexp(source: string, flags: number = REGEXP_FLAGS.ALL): Node {
  return new Parser(source, flags).parse();
}

class Parser {
  readonly #source: string;
  readonly #characters: string[];
  readonly #flags: number;
  #at = 0;
  #depth = 0;

  constructor(source: string, flags: number) {
    this.#source = source;
    this.#flags = flags;
    this.#characters = Array.from(source);
  }

  parse(): Node {
    const node = this.#choice();
    if (this.#at < this.#characters.length) throw this.#fault(`unexpected "${this.#characters[this.#at]}"`);
    return node;
  }

  #choice(): Node {
    if (++this.#depth > MAX_DEPTH) throw this.#fault("too many nested groups");
    const parts = [this.#intersection()];
    while (this.#take("|")) parts.push(this.#intersection());
    this.#depth--;
    return parts.length === 1 ? parts[0]! : { kind: "choice", parts };
  }

  #intersection(): Node {
    const parts = [this.#sequence()];
    while (this.#reads("INTERSECTION") && this.#take("&")) parts.push(this.#sequence());
    return parts.length === 1 ? parts[0]! : { kind: "intersection", parts };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    const ends = this.#reads("INTERSECTION") ? "|)&" : "|)";
    while (this.#at < this.#characters.length && !ends.includes(this.#characters[this.#at]!)) {
      parts.push(this.#repeated());
    }
    return parts.length === 1
      ? parts[0]!
      : parts.length === 0
        ? { kind: "empty" }
        : { kind: "sequence", parts };
  }

  #repeated(): Node {
    let part = this.#complemented();
    while (true) {
      if (this.#take("*")) part = { kind: "repeat", part, min: 0, max: Number.POSITIVE_INFINITY };
      else if (this.#take("+")) part = { kind: "repeat", part, min: 1, max: Number.POSITIVE_INFINITY };
      else if (this.#take("?")) part = { kind: "repeat", part, min: 0, max: 1 };
      else if (this.#take("{")) part = this.#counted(part);
      else return part;
    }
  }

  #counted(part: Node): Node {
    const min = this.#number();
    let max = min;
    if (this.#take(",")) max = this.#characters[this.#at] === "}" ? Number.POSITIVE_INFINITY : this.#number();
    if (!this.#take("}")) throw this.#fault('expected "}"');
    if (max < min) throw this.#fault(`{${min},${max}} repeats at most fewer times than at least`);
    return { kind: "repeat", part, min, max };
  }

  #number(): number {
    let digits = "";
    while (/^\d$/.test(this.#characters[this.#at] ?? "")) digits += this.#characters[this.#at++];
    if (digits === "") throw this.#fault("expected a number");
    if (Number(digits) > MAX_REPEAT) throw this.#fault(`a repetition may count to ${MAX_REPEAT} only`);
    return Number(digits);
  }

  #complemented(): Node {
    let count = 0;
    while (this.#reads("COMPLEMENT") && this.#take("~")) count++;
    if (count > 0 && this.#at >= this.#characters.length) throw this.#fault('"~" has nothing behind it');
    const part = this.#single();
    return count % 2 === 0 ? part : { kind: "complement", part };
  }

  #single(): Node {
    const character = this.#characters[this.#at++]!;
    if (character === "(") {
      const inner = this.#choice();
      if (!this.#take(")")) throw this.#fault('expected ")"');
      return inner;
    }
    if (character === "[") return this.#set();
    if (character === ".") return ANY;
    if (character === "#" && this.#reads("EMPTY")) return NOTHING;
    if (character === "<" && (this.#reads("INTERVAL") || this.#reads("AUTOMATON"))) return this.#interval();
    if (character === "@" && this.#reads("ANYSTRING"))
      return { kind: "repeat", part: ANY, min: 0, max: Number.POSITIVE_INFINITY };
    if (character === '"') return this.#quoted();
    if (character === "\\") return this.#escaped();
    if ("*+?{".includes(character)) throw this.#fault(`"${character}" has nothing to repeat`);
    return literal(character);
  }

  /** The numbers between brackets; named automata, which may be there too, don't exist. */
  #interval(): Node {
    const end = this.#characters.indexOf(">", this.#at);
    const [, least, most] = /^(\d+)-(\d+)$/.exec(this.#characters.slice(this.#at, end).join("")) ?? [];
    const isOne = end >= 0 && Number(least) <= MAX_INTERVAL && Number(most) <= MAX_INTERVAL;
    if (!isOne || !this.#reads("INTERVAL")) throw this.#fault("expected an interval such as <1-31>");
    this.#at = end + 1;
    return decimalInterval(least!, most!);
  }

  #reads(flag: keyof typeof REGEXP_FLAGS): boolean {
    return (this.#flags & REGEXP_FLAGS[flag]) !== 0;
  }

  #quoted(): Node {
    const parts: Node[] = [];
    while (!this.#take('"')) {
      if (this.#at >= this.#characters.length) throw this.#fault("expected a closing quote");
      parts.push(literal(this.#characters[this.#at++]!));
    }
    return { kind: "sequence", parts };
  }

  #escaped(): Node {
    const character = this.#characters[this.#at++];
    if (character === undefined) throw this.#fault("a backslash at the end");
    return SHORTHANDS[character] ?? literal(character);
  }

  #set(): Node {
    const negated = this.#take("^");
    const ranges: [number, number][] = [];
    // A bracket at the start is a character of the set.
    do {
      if (this.#at >= this.#characters.length) throw this.#fault('expected "]"');
      const from = this.#setCharacter();
      let to = from;
      if (this.#characters[this.#at] === "-" && this.#characters[this.#at + 1] !== "]") {
        this.#at++;
        to = this.#setCharacter();
      }
      if (to < from) throw this.#fault("a range of characters runs backwards");
      ranges.push([from, to]);
    } while (!this.#take("]"));
    return { kind: "set", ranges, negated };
  }

  #setCharacter(): number {
    let character = this.#characters[this.#at++];
    if (character === "\\") character = this.#characters[this.#at++];
    if (character === undefined) throw this.#fault('expected "]"');
    return character.codePointAt(0)!;
  }

  #take(character: string): boolean {
    if (this.#characters[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #fault(why: string): AppError {
    return new AppError(
      "request_invalid",
      `the regular expression /${this.#source}/ is invalid at character ${this.#at}: ${why}`,
    );
  }
}

function literal(character: string): Node {
  const point = character.codePointAt(0)!;
  return { kind: "set", ranges: [[point, point]], negated: false };
}
