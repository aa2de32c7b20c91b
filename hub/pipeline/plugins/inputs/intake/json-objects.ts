/** Splits a text of consecutive JSON objects, with or without line ends or a surrounding list. */

/** Yields the text of each object; what is left open at the end is yielded too, and is no JSON. */
export function* splitJsonObjects(text: string): Generator<string> {
  let depth = 0;
  let start = -1;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"') at = stringEnd(text, at);
    else if (sign === "{" && depth++ === 0) start = at;
    else if (sign === "}" && --depth === 0) {
      yield text.slice(start, at + 1);
      start = -1;
    } else if (depth <= 0 && !/[\s,[\]]/.test(sign!)) {
      yield text.slice(at);
      return;
    }
    if (depth === 0 && sign === '"') {
      yield text.slice(at);
      return;
    }
  }
  if (start >= 0) yield text.slice(start);
}

/** Returns the place of the quote that ends the string at `start`, or the text's end. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}
