/** SQL statements with named places, as they are given to a database. */

/** What may hold a colon that names nothing: literals, quoted names, comments, casts; then a place. */
const PARTS =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\1\$|::|:(?<name>[A-Za-z_]\w*)|(?<mark>\?)/g;

/** A statement with the values of its places, in their order. */
export interface BoundStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * Puts `place(number from 1)` for each `:name` that `named` knows, and for each `?` while `positional` has values; what
 * else looks like a place stays as it is.
 */
export function bindStatement(
  text: string,
  named: ReadonlyMap<string, unknown>,
  positional: readonly unknown[],
  place: (number: number) => string,
): BoundStatement {
  const values: unknown[] = [];
  let marks = 0;
  const bound = text.replace(PARTS, (whole, ...rest) => {
    const { name, mark } = rest.at(-1) as { name?: string; mark?: string };
    if (name !== undefined && named.has(name)) return place(values.push(named.get(name)));
    if (mark !== undefined && marks < positional.length) return place(values.push(positional[marks++]));
    return whole;
  });
  return { text: bound.trim().replace(/;$/, ""), values };
}
