/** Proposes a grok expression for lines of an unknown format, from their common parts. */

/** A part of a line with its grok pattern; the first that fits counts. */
const PARTS: readonly (readonly [pattern: string, name: string, expression: RegExp])[] = [
  [
    "TIMESTAMP_ISO8601",
    "timestamp",
    /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?$/,
  ],
  ["TIME", "time", /^\d\d:\d\d:\d\d(?:[.,]\d+)?$/],
  ["UUID", "id", /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i],
  ["IP", "client", /^(?:\d{1,3}\.){3}\d{1,3}$/],
  ["LOGLEVEL", "level", /^(?:trace|debug|info|notice|warn(?:ing)?|error|crit(?:ical)?|fatal|severe)$/i],
  ["NUMBER", "number", /^[+-]?\d+(?:\.\d+)?$/],
  ["URI", "url", /^https?:\/\/\S+$/],
  ["UNIXPATH", "path", /^\/[\w./%-]+$/],
];
/** Maximum of examined lines, and of words in each. */
const MAX_LINES = 20;
const MAX_WORDS = 40;
/** Brackets and quotes around a value. */
const AROUND = /^([[("'<]*)(.*?)([\])"'>,;:]*)$/;
const KEY_VALUE = /^([A-Za-z_][\w.-]*)=(.*)$/;

/**
 * Returns an expression that fits the first line and those that are built like it: words that are the same in all of them
 * stay, values get patterns and names. What follows the first word that differs in no known way is one text.
 */
export function proposeGrok(lines: readonly string[]): string {
  const rows = lines
    .slice(0, MAX_LINES)
    .map(wordsOf)
    .filter(({ length }) => length > 0);
  const [first] = rows;
  if (first === undefined) return "%{GREEDYDATA:text}";
  const alike = rows.filter((row) => kindOf(row[0]!) === kindOf(first[0]!));
  const names = new Map<string, number>();
  const parts: string[] = [];
  for (const [at, word] of first.entries()) {
    const column = alike.map((row) => row[at]);
    const part = partOf(word, column, names);
    if (part === undefined) return [...parts, "%{GREEDYDATA:text}"].join(" ");
    parts.push(part);
  }
  return parts.join(" ");
}

/** The date and the time after it are one. */
function wordsOf(line: string): string[] {
  const joined = line.trim().replace(/^([[(]?\d{4}-\d\d-\d\d) (\d\d:\d\d)/, "$1\u0000$2");
  return joined.split(/ +/, MAX_WORDS).map((word) => word.replace("\u0000", " "));
}

/** Returns a word's part of the expression; undefined if nothing is known of it. */
function partOf(
  word: string,
  column: readonly (string | undefined)[],
  names: Map<string, number>,
): string | undefined {
  if (column.some((other) => other === undefined)) return undefined;
  const [, open = "", value = "", close = ""] = AROUND.exec(word) ?? [];
  const pair = KEY_VALUE.exec(value);
  if (pair !== null) {
    const [, key, text] = pair as unknown as [string, string, string];
    return `${escaped(`${open}${key}=`)}%{${kindOf(text)?.[0] ?? "NOTSPACE"}:${unique(fieldOf(key), names)}}${escaped(close)}`;
  }
  const kind = kindOf(word);
  if (kind !== undefined && column.every((other) => kindOf(other!) === kind))
    return `${escaped(open)}%{${kind[0]}:${unique(kind[1], names)}}${escaped(close)}`;
  const isSame = column.every((other) => other === word);
  if (isSame && column.length > 1) return escaped(word);
  // Text in brackets is a name: of a thread, a class, a program.
  if (open !== "" && close !== "" && column.every((other) => other!.startsWith(open)))
    return `${escaped(open)}%{DATA:${unique("name", names)}}${escaped(close)}`;
  return undefined;
}

function kindOf(word: string): (typeof PARTS)[number] | undefined {
  const value = AROUND.exec(word)?.[2] ?? word;
  return PARTS.find(([, , expression]) => expression.test(value));
}

function fieldOf(key: string): string {
  return key.replaceAll(/[^\w.]/g, "_");
}

function unique(name: string, names: Map<string, number>): string {
  const times = (names.get(name) ?? 0) + 1;
  names.set(name, times);
  return times === 1 ? name : `${name}${times}`;
}

/** Returns a text as an expression takes it literally. */
function escaped(text: string): string {
  return text.replaceAll(/[\\^$.|?*+()[\]{}]/g, "\\$&");
}

/** Returns a pipeline that reads lines with an expression. */
export function pipelineWith(expression: string): string {
  const quoted = expression.replaceAll('"', '\\"');
  const date = expression.includes("TIMESTAMP_ISO8601:timestamp}")
    ? "\n  date {\n    match => [timestamp, ISO8601]\n  }"
    : "";
  return `input { shipper {} }

filter {
  grok {
    match => { message => "${quoted}" }
  }${date}
}

output { elasticsearch { index => "logs-%{+yyyy.MM.dd}" } }
`;
}
