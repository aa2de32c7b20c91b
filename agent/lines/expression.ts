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

/** Classes of Unicode and characters by their numbers. */
const NEEDS_UNICODE = /\\(?:[pP]|u)\{/;

/** Returns the expression of the setting `name`. Throws settings_invalid. */
export function compileExpression(name: string, text: string): RegExp {
  const flags = /^\(\?([ims]+)\)/.exec(text);
  const rest = text
    .slice(flags?.[0].length ?? 0)
    .replaceAll("\\A", "^")
    .replaceAll("\\z", "$")
    .replaceAll(/\(\?P</g, "(?<")
    .replaceAll(/\\([pP])(?:([A-Z])(?![a-z])|\{(\w+)\})/g, unicodeClass)
    .replaceAll(/\\x\{([0-9A-Fa-f]+)\}/g, "\\u{$1}")
    .replaceAll(/\[:(\w+):\]/g, (whole, posix: string) => POSIX_CLASSES[posix] ?? whole);
  try {
    return new RegExp(rest, `${flags?.[1] ?? ""}u`);
  } catch (error) {
    // Without the flag u those would be read as other characters.
    if (NEEDS_UNICODE.test(rest)) throw faultOf(name, text, error);
    // Escapes of characters that need none are errors with the flag u only.
  }
  try {
    return new RegExp(rest, flags?.[1] ?? "");
  } catch (error) {
    throw faultOf(name, text, error);
  }
}

/** Returns the class of a general category or a property; other names are those of scripts. */
function unicodeClass(_: string, p: string, letter: string | undefined, name: string | undefined): string {
  const meant = letter ?? name ?? "";
  try {
    new RegExp(`\\p{${meant}}`, "u");
    return `\\${p}{${meant}}`;
  } catch {
    return `\\${p}{Script=${meant}}`;
  }
}

function faultOf(name: string, text: string, error: unknown): AppError {
  return settingFault(
    name,
    `${name}: "${text}" isn't a regular expression: ${(error as Error).message}`,
    error,
  );
}
