/** Regular expressions of settings. */

/** Compiles a pattern with Java's flag names (CASE_INSENSITIVE|MULTILINE|DOTALL). Throws settings_invalid. */
export function compilePattern(source: string, flags = ""): RegExp {
  let letters = "gdu";
  if (flags.includes("CASE_INSENSITIVE")) letters += "i";
  if (flags.includes("MULTILINE")) letters += "m";
  if (flags.includes("DOTALL")) letters += "s";
  try {
    return new RegExp(source, letters);
  } catch {
    // Escapes of other characters than the syntax's own are only allowed without the u flag.
    return new RegExp(source, letters.replace("u", ""));
  }
}

/**
 * Compiles a pattern of the syntax that `simple_pattern` has: that of queries (`@`, `#`, `~`, `&` and `<1-9>` but for their
 * literals aren't offered). Throws RangeError.
 */
export function compileSimplePattern(source: string): RegExp {
  let pattern = "";
  for (const [part] of source.matchAll(/\\.|"[^"]*"|\[(?:\\.|[^\]])*\]|./gs)) {
    if (/^[@#~&<]$/.test(part))
      throw new RangeError(
        `[pattern] must not have the operator [${part}]; write \\${part} for the character`,
      );
    if (part.length > 1 && part.startsWith('"')) pattern += RegExp.escape(part.slice(1, -1));
    else if (part.length === 2 && part.startsWith("\\")) pattern += RegExp.escape(part[1]!);
    else pattern += part === "^" || part === "$" ? `\\${part}` : part;
  }
  if (pattern === "") return /(?!)/gu;
  return compilePattern(`(?:${pattern})`, "DOTALL");
}
