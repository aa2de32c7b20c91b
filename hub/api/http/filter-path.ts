/** `filter_path`: selects the parts of an answer. `*` matches one key, `**` any number of levels. */

/** Returns the parts of a plain JSON value that the comma-separated patterns name; those that begin with "-" are taken out. */
export function filterPath(value: unknown, patterns: string): unknown {
  const all = patterns
    .split(",")
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== "");
  const wanted = all.filter((pattern) => !pattern.startsWith("-")).map(split);
  const unwanted = all.filter((pattern) => pattern.startsWith("-")).map((pattern) => split(pattern.slice(1)));
  let result: unknown = value;
  if (wanted.length > 0) result = keep(result, wanted);
  if (unwanted.length > 0) result = remove(result, unwanted);
  return result ?? {};
}

type Pattern = readonly string[];

/** Splits at dots that aren't escaped by a backslash. */
function split(pattern: string): Pattern {
  return pattern.split(/(?<!\\)\./).map((part) => part.replaceAll("\\.", "."));
}

function keep(value: unknown, patterns: readonly Pattern[]): unknown {
  if (patterns.some(isDone)) return value;
  if (Array.isArray(value)) {
    const kept = value.map((each) => keep(each, patterns)).filter((each) => each !== undefined);
    return kept.length === 0 ? undefined : kept;
  }
  if (!isContainer(value)) return undefined;
  const result: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(value)) {
    const rest = step(patterns, key);
    const kept = rest.length === 0 ? undefined : keep(each, rest);
    if (kept !== undefined) result[key] = kept;
  }
  return Object.keys(result).length === 0 ? undefined : result;
}

function remove(value: unknown, patterns: readonly Pattern[]): unknown {
  if (Array.isArray(value)) return value.map((each) => remove(each, patterns));
  if (!isContainer(value)) return value;
  const result: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(value)) {
    const rest = step(patterns, key);
    if (!rest.some(isDone)) result[key] = rest.length === 0 ? each : remove(each, rest);
  }
  return result;
}

/** Returns true where the pattern is used up, or its rest matches any number of levels. */
function isDone(pattern: Pattern): boolean {
  return pattern.every((part) => part === "**");
}

/** Returns the rests of the patterns below `key`. */
function step(patterns: readonly Pattern[], key: string): Pattern[] {
  const rest: Pattern[] = [];
  for (const pattern of patterns) {
    const [first, ...others] = pattern;
    if (first === undefined) continue;
    if (first === "**") {
      rest.push(pattern, ...step([others], key));
    } else if (fits(first, key)) rest.push(others);
  }
  return rest;
}

function fits(part: string, key: string): boolean {
  if (!part.includes("*")) return part === key;
  const [first = "", ...middle] = part.split("*");
  const last = middle.pop() ?? "";
  if (!key.startsWith(first) || key.length < first.length + last.length || !key.endsWith(last)) return false;
  let at = first.length;
  for (const piece of middle) {
    const found = key.indexOf(piece, at);
    if (found < 0 || found + piece.length > key.length - last.length) return false;
    at = found + piece.length;
  }
  return true;
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
