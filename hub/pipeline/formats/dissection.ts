/** Dissections: `%{a} %{+a/2} %{?b} %{&b} %{c->}` and the delimiters between them, compiled to a function. */

/**
 * Returns names and texts found, or undefined if the text doesn't fit. `existing` returns the text of a field that there was
 * before, to which parts are appended, or that names a field; undefined: there is none.
 */
export type Dissection = (text: string, existing?: Existing) => Map<string, string> | undefined;
type Existing = (name: string) => string | undefined;

interface Part {
  /** "" a field, "+" appended to one, "?" left out, "&" named by the value of the `?` or `*` of the same name. */
  readonly prefix: string;
  readonly name: string;
  /** Order among the parts appended to a field. */
  readonly order: number;
  /** Repetitions of the delimiter after it count as one. */
  readonly padded: boolean;
  /** The text after it; empty at the end. */
  readonly delimiter: string;
}

const PART = /%\{([+?&*]?)([^}]*?)(?:\/(\d+))?(->)?\}/g;

/**
 * Compiles a dissection, or returns what is wrong with it. With `separator` it is one of ingest pipelines, whose keys
 * of `%{&b}` are written `%{*b}`. `separator` is put between what is appended to a field and what it had; without it
 * the delimiter in front of the appended part does.
 */
export function parseDissection(text: string, separator?: string): Dissection | string {
  const matches = [...text.matchAll(PART)];
  const first = matches[0];
  if (first === undefined) return `"${text}" has no %{field}`;
  const head = text.slice(0, first.index);
  const parts = matches.map((match, index): Part => {
    const [whole, prefix = "", name = "", order, arrow] = match;
    const delimiter = text.slice(match.index + whole.length, matches[index + 1]?.index);
    const part = { order: Number(order ?? 0), padded: arrow !== undefined, delimiter };
    return prefix === "*" && separator === undefined
      ? { ...part, prefix: "", name: `*${name}` }
      : { ...part, prefix, name };
  });
  if (parts.slice(0, -1).some(({ delimiter }) => delimiter === ""))
    return `"${text}" has two fields without a delimiter between them`;
  const unpaired = separator === undefined ? undefined : unpairedKey(parts);
  if (unpaired !== undefined)
    return `Found invalid key/reference associations: '${unpaired}' Please ensure each '*<key>' is matched with a matching '&<key>`;
  return (subject, existing) => {
    if (!subject.startsWith(head)) return undefined;
    // An ingest pipeline finds no parts in an empty text.
    if (separator !== undefined && subject.length === head.length) return undefined;
    const values =
      separator === undefined ? cut(subject, head.length, parts) : cutRuns(subject, head.length, parts);
    return values === undefined ? undefined : assemble(parts, values, separator ?? { head }, existing);
  };
}

/** Returns the text of each part. */
function cut(subject: string, start: number, parts: readonly Part[]): string[] | undefined {
  const values: string[] = [];
  let at = start;
  for (const { delimiter, padded } of parts) {
    const end = delimiter === "" ? subject.length : subject.indexOf(delimiter, at);
    if (end < 0) return undefined;
    values.push(subject.slice(at, end));
    at = end + delimiter.length;
    if (padded && delimiter !== "") while (subject.startsWith(delimiter, at)) at += delimiter.length;
  }
  return values;
}

/**
 * As `cut`, as ingest pipelines do it: each repetition of a delimiter stands for an empty part after it, whatever that
 * part's own delimiter is, until a part that is padded takes the rest.
 */
function cutRuns(subject: string, start: number, parts: readonly Part[]): string[] | undefined {
  const values: string[] = [];
  let at = start;
  while (values.length < parts.length) {
    const { delimiter } = parts[values.length]!;
    const end = delimiter === "" ? subject.length : subject.indexOf(delimiter, at);
    if (end < 0) return undefined;
    values.push(subject.slice(at, end));
    at = end + delimiter.length;
    for (; delimiter !== "" && subject.startsWith(delimiter, at); at += delimiter.length) {
      if (parts[values.length - 1]!.padded) continue;
      if (values.length === parts.length) break;
      values.push("");
    }
  }
  return values;
}

/** Returns a name that only one of `%{*name}` and `%{&name}` has. */
function unpairedKey(parts: readonly Part[]): string | undefined {
  const namesOf = (mark: string): string[] =>
    parts.flatMap(({ prefix, name }) => (prefix === mark ? [name] : []));
  const [keys, values] = [namesOf("*"), namesOf("&")];
  return keys.find((name) => !values.includes(name)) ?? values.find((name) => !keys.includes(name));
}

/**
 * `separator`: what is between appended parts, or the text before the first part, which does so in front of that one.
 */
function assemble(
  parts: readonly Part[],
  values: readonly string[],
  separator: string | { readonly head: string },
  existing: Existing = () => undefined,
): Map<string, string> {
  const found = new Map<string, string>();
  const skipped = new Map<string, string>();
  const appended: { name: string; order: number; value: string; delimiter: string }[] = [];
  const before = (index: number): string =>
    typeof separator === "string" ? separator : (parts[index - 1]?.delimiter ?? separator.head) || " ";
  for (const [index, { prefix, name, order }] of parts.entries()) {
    const value = values[index]!;
    if (prefix === "?" || prefix === "*") skipped.set(name, value);
    else if (prefix === "+") appended.push({ name, order, value, delimiter: before(index) });
    else if (prefix === "" && name !== "") found.set(name, value);
  }
  for (const { name, value, delimiter } of appended.sort((a, b) => a.order - b.order)) {
    const text = found.get(name) ?? existing(name);
    found.set(name, text === undefined ? value : text + delimiter + value);
  }
  for (const [index, { prefix, name }] of parts.entries()) {
    if (prefix !== "&") continue;
    const field = found.get(name) ?? existing(name) ?? skipped.get(name);
    if (field !== undefined && field !== "") found.set(field, values[index]!);
  }
  return found;
}
