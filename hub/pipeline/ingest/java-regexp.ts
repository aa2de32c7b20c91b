/** Java's regular expressions, as processors take them, on JavaScript's engine. */

import { translateRubyRegexp } from "#hub/pipeline/regexp/ruby-regexp.ts";

/** Escapes of sets whose members differ in JavaScript, or that it doesn't have. */
const SETS: Readonly<Record<string, string>> = {
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

/** Flags in front of the whole expression; `d` and `u` change nothing here, others are left to the translation. */
const FLAGS = /^\(\?([dimsu]+)\)/;
const ESCAPE =
  /\\(?:([pP])(?:\{(?:Is)?(\w+)\}|([A-Z]))|x\{([0-9A-Fa-f]+)\}|0([0-3]?[0-7]{1,2})|([hsvHSV])|.)|[[\]]/gs;

/**
 * Compiles an expression of Java. What JavaScript doesn't have is translated as Ruby's where that means the same. Throws
 * Error saying what isn't supported.
 */
export function javaRegexp(text: string): RegExp {
  const [leading = "", letters = ""] = FLAGS.exec(text) ?? [];
  const has = (letter: string): string => (letters.includes(letter) ? letter : "");
  const source = javaEscapes(unquoted(text.slice(leading.length)));
  try {
    return new RegExp(source, `u${has("i")}${has("m")}${has("s")}`);
  } catch {
    const options = { dotAll: letters.includes("s"), unnamedCapture: true };
    const translated = translateRubyRegexp(letters.includes("i") ? `(?i)${source}` : source, options);
    const { flags } = translated.expression("");
    return letters.includes("m") ? new RegExp(translated.source, flags) : translated.expression("");
  }
}

/** Escapes what stands between \\Q and \\E, which only Java has. */
function unquoted(text: string): string {
  return text.replace(/\\Q(.*?)(?:\\E|$)/gs, (_whole, literal: string) =>
    literal.replace(/[$()*+.?[\\\]^{|}/]/g, "\\$&"),
  );
}

/** Writes Java's own escapes as JavaScript's. */
function javaEscapes(text: string): string {
  let depth = 0; // of classes
  return text.replace(ESCAPE, (...match) => {
    const [whole, property, long, short, hex, octal, set] = match as (string | undefined)[];
    if (whole === "[") depth++;
    else if (whole === "]") depth = Math.max(0, depth - 1);
    else if (hex !== undefined) return `\\u{${hex}}`;
    else if (octal !== undefined) return `\\x${Number.parseInt(octal, 8).toString(16).padStart(2, "0")}`;
    else if (set !== undefined)
      return setText(whole!, SETS[set.toLowerCase()]!, set === set.toUpperCase(), depth > 0);
    else if (property !== undefined) {
      const members = long === undefined || whole!.includes("{Is") ? undefined : ASCII[long];
      if (members === undefined) return `\\${property}{${short ?? long}}`;
      return setText(whole!, members, property === "P", depth > 0);
    }
    return whole!;
  });
}

function setText(whole: string, members: string, isNegated: boolean, isInClass: boolean): string {
  if (!isInClass) return `[${isNegated ? "^" : ""}${members}]`;
  if (!isNegated) return members;
  if (whole === "\\S") return whole;
  throw new Error(`${whole} in a class isn't supported; write the class out`);
}
