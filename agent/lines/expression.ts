/**
 * Regular expressions as in the settings of other shippers: RE2 with inline flags at the start and POSIX classes,
 * converted to those of this runtime.
 */

import { settingFault } from "#agent/contract/input.ts";
import type { AppError } from "#proto/kit/errors.ts";

/** POSIX classes by name, as written within brackets. */
const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: "A-Za-z0-9",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7f",
  blank: " \\t",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`{-~",
  space: "\\s",
  upper: "A-Z",
  word: "\\w",
  xdigit: "0-9A-Fa-f",
};

/** What differs from this runtime's syntax, and escapes, which must be read as wholes: in `\\pL` the class is text. */
const TOKENS =
  /\\(?:([pP])(?:([A-Z])(?![a-z])|\{(\w+)\})|[xu]\{([0-9A-Fa-f]+)\}|(.))|\[:(\w+):\]|\(\?P<|\{\d+(?:,\d*)?\}|[{}]/gsu;

/** ASCII characters that are escaped without need. With the flag u such an escape is an error. */
const NEEDLESS = /[\0- !"#%&',\-:;<=>@_`~\x7f]/;

/** Returns the expression of the setting `name`. Throws settings_invalid. */
export function compileExpression(name: string, text: string): RegExp {
  const flags = /^\(\?([ims]+)\)/.exec(text);
  const [rest, needsUnicode] = translate(text.slice(flags?.[0].length ?? 0));
  try {
    return new RegExp(rest, `${flags?.[1] ?? ""}u`);
  } catch (error) {
    // Without the flag u classes of Unicode would be read as other characters.
    if (needsUnicode) throw faultOf(name, text, error);
    // Escapes of letters that mean nothing are errors with the flag u only.
  }
  try {
    return new RegExp(rest, flags?.[1] ?? "");
  } catch (error) {
    throw faultOf(name, text, error);
  }
}

/** Returns the expression in this runtime's syntax, and whether it has what only the flag u makes possible. */
function translate(text: string): [expression: string, needsUnicode: boolean] {
  let needsUnicode = false;
  const expression = text.replaceAll(
    TOKENS,
    (token, p?: string, letter?: string, name?: string, hex?: string, escaped?: string, posix?: string) => {
      needsUnicode ||= p !== undefined || hex !== undefined;
      if (p !== undefined) return unicodeClass(p, letter ?? name ?? "");
      if (hex !== undefined) return `\\u{${hex}}`;
      if (escaped !== undefined) return withoutNeedlessEscape(escaped);
      if (posix !== undefined) return POSIX_CLASSES[posix] ?? token;
      if (token === "(?P<") return "(?<";
      return token.length === 1 ? `\\${token}` : token; // a brace without a number of repetitions is text
    },
  );
  return [expression, needsUnicode];
}

/** Returns an escape of one character. */
function withoutNeedlessEscape(escaped: string): string {
  if (escaped === "A") return "^";
  if (escaped === "z") return "$";
  // By its number, which is right within brackets, too.
  return NEEDLESS.test(escaped)
    ? `\\x${escaped.charCodeAt(0).toString(16).padStart(2, "0")}`
    : `\\${escaped}`;
}

/** Returns the class of a general category or a property; other names are those of scripts. */
function unicodeClass(p: string, name: string): string {
  try {
    new RegExp(`\\p{${name}}`, "u");
    return `\\${p}{${name}}`;
  } catch {
    return `\\${p}{Script=${name}}`;
  }
}

function faultOf(name: string, text: string, error: unknown): AppError {
  return settingFault(
    name,
    `${name}: "${text}" isn't a regular expression: ${(error as Error).message}`,
    error,
  );
}
