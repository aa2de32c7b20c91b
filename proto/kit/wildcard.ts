/** Names chosen by patterns in which `*` is the only special character. */

/** Returns whether a name matches a pattern; `*` matches any characters, also none. Time: length of the name × stars. */
export function matchesWildcard(pattern: string, name: string): boolean {
  const [first = "", ...middle] = pattern.split("*");
  const last = middle.pop();
  if (last === undefined) return pattern === name;
  const end = name.length - last.length;
  if (end < first.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const piece of middle) {
    const found = name.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
