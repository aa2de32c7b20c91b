/** Character classes, properties and escapes of Java's regular expressions, for JavaScript's engine with its flag `v`. */

/** A part of an expression that was read: its JavaScript, and the offset after it. */
interface ReadPart {
  readonly source: string;
  readonly end: number;
}

/** Escapes of sets whose members differ in JavaScript, or that it doesn't have. */
const SETS: Readonly<Record<string, string>> = {
  d: "0-9",
  w: "\\w",
  s: " \\t-\\r",
  h: " \\t\\xa0\\u1680\\u180e\\u2000-\\u200a\\u202f\\u205f\\u3000",
  v: "\\n-\\r\\x85\\u2028\\u2029",
};
/** Properties of ASCII, whose names mean more in JavaScript. */
const ASCII: Readonly<Record<string, string>> = {
  ASCII: "\\x00-\\x7f",
  Alnum: "A-Za-z0-9",
  Alpha: "A-Za-z",
  Blank: " \\t",
  Cntrl: "\\x00-\\x1f\\x7f",
  Digit: "0-9",
  Graph: "!-~",
  Lower: "a-z",
  Print: " -~",
  Punct: "!-\\/:-@\\[-`\\{-~",
  Space: " \\t-\\r",
  Upper: "A-Z",
  XDigit: "0-9A-Fa-f",
};
/** Names after `Is` that JavaScript writes differently. */
const CATEGORIES: Readonly<Record<string, string>> = {
  Digit: "Nd",
  Titlecase: "Lt",
  WhiteSpace: "White_Space",
};
/** Characters that a letter stands for. */
const CHARACTERS: Readonly<Record<string, string>> = {
  a: "\x07",
  e: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

const SET = /\\(?:([dwshvDWSHV])|([pP])(?:\{(\w+(?:=\w+)?)\}|([A-Z])))/y;
const CHARACTER =
  /\\(?:x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|u([Dd][89ABab][0-9A-Fa-f]{2})\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|0([0-3]?[0-7]{1,2})|c([@-_a-z])|(.))/suy;

/** What follows a hyphen that is itself a member. */
const NO_END = /^(?:[[\]]|\\[dwshvDWSHVpPQ]|&&|$)/;

/** Which letters stand for their other case as well: none, those of ASCII, or all. */
export type Folding = "none" | "ascii" | "unicode";

/** The other cases of a range of letters are looked up one by one, up to so many. */
const MAX_FOLDED = 2_048;

/** Properties of one case mean both where case is ignored. */
const CASED: Readonly<Record<string, string>> = {
  Lower: "A-Za-z",
  Upper: "A-Za-z",
  ...Object.fromEntries(["Lu", "Ll", "Lt", "IsLu", "IsLl", "IsLt"].map((name) => [name, "\\p{LC}"])),
  ...Object.fromEntries(["IsLowercase", "IsUppercase", "IsTitlecase"].map((name) => [name, "\\p{Cased}"])),
};

/** Returns what a character of the expression matches, as JavaScript writes it outside of classes. */
export function literal(character: string, folding: Folding): string {
  const others = otherCases(character, folding);
  return others === "" ? written(character) : `[${written(character)}${others}]`;
}

/** Returns the character as JavaScript writes it anywhere, with its flag `v`. */
function written(character: string): string {
  const code = character.codePointAt(0)!;
  return /[\w ]/.test(character) || code > 0xa0 ? character : `\\u{${code.toString(16)}}`;
}

function otherCases(character: string, folding: Folding): string {
  if (folding === "none" || (folding === "ascii" && !/[A-Za-z]/.test(character))) return "";
  const cases = new Set([character.toLowerCase(), character.toUpperCase()]);
  cases.delete(character);
  // ß has no capital of one letter.
  return [...cases].filter((each) => Array.from(each).length === 1).join("");
}

/** Reads the escape of a set at `at`, as a class; undefined where there is none. Throws Error. */
export function readSet(text: string, at: number, folding: Folding): ReadPart | undefined {
  SET.lastIndex = at;
  const found = SET.exec(text);
  if (found === null) return undefined;
  const [whole, set, property, long, short] = found;
  const isNegated = /[DWSHVP]/.test(set ?? property!);
  const members = set === undefined ? propertyMembers(long ?? short!, folding) : SETS[set.toLowerCase()]!;
  return { source: `[${isNegated ? "^" : ""}${members}]`, end: at + whole.length };
}

function propertyMembers(name: string, folding: Folding): string {
  if (folding !== "none" && Object.hasOwn(CASED, name)) return CASED[name]!;
  if (Object.hasOwn(ASCII, name)) return ASCII[name]!;
  const bare = name.replace(/^Is/, "");
  for (const each of [CATEGORIES[bare] ?? bare, `Script=${bare}`]) {
    try {
      return new RegExp(`\\p{${each}}`, "v").source;
    } catch {}
  }
  throw new Error(`\\p{${name}} isn't supported`);
}

/** A character that was read, and the offset after it. */
interface ReadCharacter {
  readonly character: string;
  readonly end: number;
}

/** Reads the escape of a character at `at`. Throws Error. */
export function readCharacter(text: string, at: number): ReadCharacter {
  CHARACTER.lastIndex = at;
  const found = CHARACTER.exec(text);
  if (found === null) throw new Error("a backslash ends the expression");
  const [whole, point, hex, high, low, unit, octal, control, other] = found;
  const end = at + whole.length;
  const code = point ?? hex ?? unit;
  if (code !== undefined) return { character: String.fromCodePoint(Number.parseInt(code, 16)), end };
  if (high !== undefined)
    return { character: String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low!, 16)), end };
  if (octal !== undefined) return { character: String.fromCharCode(Number.parseInt(octal, 8)), end };
  if (control !== undefined) return { character: String.fromCharCode(control.charCodeAt(0) ^ 64), end };
  return { character: CHARACTERS[other!] ?? other!, end };
}

/** Reads the class that begins with the bracket at `at`: classes within it, and what `&&` leaves. Throws Error. */
export function readClass(text: string, at: number, folding: Folding): ReadPart {
  const isNegated = text[at + 1] === "^";
  const start = at + (isNegated ? 2 : 1);
  const unions: string[] = [];
  let union = "";
  for (let next = start; ; ) {
    const character = text[next];
    if (character === undefined) throw new Error(`the [ at ${at + 1} is never closed`);
    if (character === "]" && next > start) {
      unions.push(union);
      const operands = unions.filter((each) => each !== "").map((each) => `[${each}]`);
      return { source: `[${isNegated ? "^" : ""}${operands.join("&&")}]`, end: next + 1 };
    }
    if (text.startsWith("&&&", next)) throw new Error(`&&& at ${next + 1} isn't supported`);
    if (text.startsWith("&&", next)) {
      unions.push(union);
      [union, next] = ["", next + 2];
      continue;
    }
    const { source, end } = readMember(text, next, folding);
    union += source;
    next = end;
  }
}

/** Reads a class, a set, quoted text, a character or a range of them. */
function readMember(text: string, at: number, folding: Folding): ReadPart {
  if (text[at] === "[") return readClass(text, at, folding);
  const quoted = readQuoted(text, at);
  if (quoted !== undefined)
    return {
      source: Array.from(quoted.text, (each) => member(each, each, folding)).join(""),
      end: quoted.end,
    };
  const set = readSet(text, at, folding);
  if (set !== undefined) return set;
  const first = readSingle(text, at);
  const isRange = text[first.end] === "-" && !NO_END.test(text.slice(first.end + 1, first.end + 3));
  const last = isRange ? readSingle(text, first.end + 1) : first;
  return { source: member(first.character, last.character, folding), end: last.end };
}

/** Reads what is between \\Q and \\E, or the end; undefined where nothing is quoted. */
export function readQuoted(
  text: string,
  at: number,
): { readonly text: string; readonly end: number } | undefined {
  if (!text.startsWith("\\Q", at)) return undefined;
  const stop = text.indexOf("\\E", at + 2);
  return { text: text.slice(at + 2, stop < 0 ? undefined : stop), end: stop < 0 ? text.length : stop + 2 };
}

function readSingle(text: string, at: number): ReadCharacter {
  if (text[at] === "\\") return readCharacter(text, at);
  const character = String.fromCodePoint(text.codePointAt(at)!);
  return { character, end: at + character.length };
}

/** Returns the characters from `first` to `last` as members of a class. */
function member(first: string, last: string, folding: Folding): string {
  let source = first === last ? written(first) : `${written(first)}-${written(last)}`;
  if (folding === "none") return source;
  const [from, to] = [first.codePointAt(0)!, last.codePointAt(0)!];
  const end = folding === "ascii" ? Math.min(to, 0x7f) : Math.min(to, from + MAX_FOLDED);
  for (let code = from; code <= end; code++) source += otherCases(String.fromCodePoint(code), folding);
  return source;
}
