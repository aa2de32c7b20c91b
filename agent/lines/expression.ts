/**
 * Regular expressions as in the settings of other shippers: RE2 with inline flags at the start and POSIX classes,
 * converted to those of this runtime.
 */

import { settingFault } from "#agent/contract/input.ts";

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

/** Returns the expression of the setting `name`. Throws settings_invalid. */
export function compileExpression(name: string, text: string): RegExp {
  const flags = /^\(\?([ims]+)\)/.exec(text);
  const rest = text
    .slice(flags?.[0].length ?? 0)
    .replaceAll("\\A", "^")
    .replaceAll("\\z", "$")
    .replaceAll(/\(\?P</g, "(?<")
    .replaceAll(/\[:(\w+):\]/g, (whole, posix: string) => POSIX_CLASSES[posix] ?? whole);
  try {
    return new RegExp(rest, `${flags?.[1] ?? ""}u`);
  } catch {
    // Escapes of characters that need none are errors with the flag u only.
  }
  try {
    return new RegExp(rest, flags?.[1] ?? "");
  } catch (error) {
    throw settingFault(
      name,
      `${name}: "${text}" isn't a regular expression: ${(error as Error).message}`,
      error,
    );
  }
}
