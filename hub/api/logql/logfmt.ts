/** Reads logfmt: `level=warn msg="two words" flag`. */

/** White space and control characters end keys and values. */
const PAIR = /[\p{Cc} ]*(?:([^\p{Cc} ="]+)(?:(=)(?:("(?:[^"\\]|\\[\s\S])*"?)|([^\p{Cc} ="]*)))?)?/uy;
const REST = /[^\p{Cc} ]*/uy;

/**
 * Returns the pairs of a line; a key without a value has "". Undefined stands for a text that isn't a pair, which ends at the
 * next white space.
 */
export function* logfmtPairs(line: string): Generator<[key: string, value: string] | undefined> {
  let offset = 0;
  for (;;) {
    PAIR.lastIndex = offset;
    const [all = "", key, , quoted, plain = ""] = PAIR.exec(line) ?? [];
    offset += all.length;
    if (offset >= line.length && key === undefined) return;
    const value = quoted === undefined ? plain : unquoted(quoted);
    const next = line[offset];
    // A key must follow, and a plain value must end before a quote or another "=".
    const isCut = next !== undefined && quoted === undefined && next > " ";
    if (key === undefined || isCut) {
      REST.lastIndex = offset;
      offset += REST.exec(line)![0].length;
      yield undefined;
    } else yield value === undefined ? undefined : [key, value];
  }
}

/** Returns the text between quotes; undefined if it isn't closed or has an unknown escape. */
function unquoted(text: string): string | undefined {
  if (text.length < 2 || !text.endsWith('"')) return undefined;
  if (!text.includes("\\")) return text.slice(1, -1);
  try {
    // Line ends and the like may be written in quotes unescaped.
    const shown = text.replace(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1));
    return JSON.parse(shown) as string;
  } catch {
    return undefined;
  }
}
