/** One line of separated values (RFC 4180, with any separator and quote). */

/** What blanks and tabs around values are: parts of them, left out around quotes, or left out but within quotes. */
export type CsvSpacing = "kept" | "around quotes" | "trimmed";

/** Returns the values, without a separator one, undefined for one that isn't there at all; or undefined if the quotes don't match. */
export function parseCsvLine(
  line: string,
  separator: string,
  quote: string,
  spacing: CsvSpacing = "kept",
): (string | undefined)[] | undefined {
  const values: (string | undefined)[] = [];
  if (line === "") return values;
  let at = 0;
  for (;;) {
    const start = spacing === "kept" ? at : afterBlanks(line, at, separator);
    if (quote !== "" && line.startsWith(quote, start)) {
      const quoted = readQuoted(line, start + quote.length, quote);
      if (quoted === undefined) return undefined;
      values.push(quoted.text);
      at = spacing === "kept" ? quoted.end : afterBlanks(line, quoted.end, separator);
      if (at === line.length) return values;
      if (!line.startsWith(separator, at)) return undefined;
      at += separator.length;
    } else {
      const end = separator === "" ? -1 : line.indexOf(separator, at);
      const whole = line.slice(at, end < 0 ? undefined : end);
      const text = spacing === "trimmed" ? whole.trim() : whole;
      if (quote !== "" && text.includes(quote)) return undefined;
      values.push(text === "" ? undefined : text);
      if (end < 0) return values;
      at = end + separator.length;
    }
  }
}

/** Returns the first offset from `at` on where no blank or tab is; a separator may be one. */
function afterBlanks(line: string, at: number, separator: string): number {
  let after = at;
  while ((line[after] === " " || line[after] === "\t") && line[after] !== separator) after++;
  return after;
}

/** Reads up to the closing quote; a doubled one stands for itself. */
function readQuoted(line: string, start: number, quote: string): { text: string; end: number } | undefined {
  let text = "";
  let at = start;
  for (;;) {
    const close = line.indexOf(quote, at);
    if (close < 0) return undefined;
    text += line.slice(at, close);
    at = close + quote.length;
    if (!line.startsWith(quote, at)) return { text, end: at };
    text += quote;
    at += quote.length;
  }
}
