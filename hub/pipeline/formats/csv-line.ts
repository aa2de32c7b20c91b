/** One line of separated values (RFC 4180, with any separator and quote). */

/** Returns the values, undefined for one that isn't there at all; or undefined if the quotes don't match. */
export function parseCsvLine(
  line: string,
  separator: string,
  quote: string,
): (string | undefined)[] | undefined {
  const values: (string | undefined)[] = [];
  if (line === "") return values;
  let at = 0;
  for (;;) {
    if (quote !== "" && line.startsWith(quote, at)) {
      const quoted = readQuoted(line, at + quote.length, quote);
      if (quoted === undefined) return undefined;
      values.push(quoted.text);
      at = quoted.end;
      if (at === line.length) return values;
      if (!line.startsWith(separator, at)) return undefined;
      at += separator.length;
    } else {
      const end = line.indexOf(separator, at);
      const text = line.slice(at, end < 0 ? undefined : end);
      if (quote !== "" && text.includes(quote)) return undefined;
      values.push(text === "" ? undefined : text);
      if (end < 0) return values;
      at = end + separator.length;
    }
  }
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
