/** `${NAME}` and `${NAME:default}` in a pipeline's text. */

import type { Report } from "./plugin-options.ts";
import type { Range } from "./syntax-tree.ts";

/** Values by name: secrets of the keystore, and the environment. */
export type Variables = Readonly<Record<string, string | undefined>>;

const VARIABLE = /\$\{([a-zA-Z_.][a-zA-Z0-9_.]*)(?::([^}]*))?\}/g;

/** Returns `text` with its variables replaced; one that isn't set and has no default is reported. */
export function expandVariables(text: string, range: Range, variables: Variables, report: Report): string {
  if (!text.includes("${")) return text;
  return text.replace(VARIABLE, (_, name: string, fallback?: string) => {
    const value = variables[name] ?? fallback;
    if (value !== undefined) return value;
    report(
      "error",
      range,
      `the environment variable ${name} isn't set`,
      `set it, put it into the keystore (tailrace-hub keystore add ${name}), or give a default: \${${name}:default}`,
    );
    return "";
  });
}
