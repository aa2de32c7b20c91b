/** Files of grok patterns: a name, a blank and the pattern a line; `#` begins a comment line. */

/** Returns the patterns of a file's text in its order. */
export function parsePatternFile(text: string): [name: string, pattern: string][] {
  const patterns: [string, string][] = [];
  for (const line of text.split(/\r?\n/)) {
    const found = /^\s*([A-Za-z0-9_]+)\s+(.*?)\s*$/.exec(line);
    if (found !== null) patterns.push([found[1]!, found[2]!]);
  }
  return patterns;
}
