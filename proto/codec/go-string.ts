/** Texts in quotes as Go writes them (The Go Programming Language Specification, "String literals"). */

/** An escape: several bytes, which may be one character, a code point, or a sign; else a backslash that begins none. */
const ESCAPE =
  /((?:\\x[0-9a-fA-F]{2}|\\[0-3][0-7]{2})+)|\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})|\\([abfnrtv\\"'])|\\/g;

const SIGNS: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** Returns what a text within double quotes means; undefined if an escape in it is none. */
export function unquoteGo(inner: string): string | undefined {
  if (!inner.includes("\\")) return inner;
  let isRight = true;
  const text = inner.replace(
    ESCAPE,
    (_, bytes?: string, unit?: string, point?: string, sign?: string): string => {
      if (bytes !== undefined) return textOf(bytes);
      if (sign !== undefined) return SIGNS[sign] ?? sign;
      const code = Number.parseInt(unit ?? point ?? "", 16);
      // A backslash alone has no code; halves of characters are none in Go.
      if (code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)) return String.fromCodePoint(code);
      isRight = false;
      return "";
    },
  );
  return isRight ? text : undefined;
}

/** Returns the UTF-8 text of bytes such as `\xc3\244`. */
function textOf(escapes: string): string {
  const bytes = escapes.match(/x..|\d{3}/g)!;
  return Buffer.from(
    bytes.map((byte) =>
      byte.startsWith("x") ? Number.parseInt(byte.slice(1), 16) : Number.parseInt(byte, 8),
    ),
  ).toString();
}
