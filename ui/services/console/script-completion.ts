/** Completions at the cursor within a script of a request: variables, classes, their methods, fields of `doc`. */

import type { Completion, Suggestion } from "./suggestions.ts";

/** Keys whose text is a script at any position. */
const SCRIPT_KEYS = new Set(["if", "script", "init_script", "map_script", "combine_script", "reduce_script"]);

const WORDS: Readonly<Record<string, string>> = {
  statement: "def if else for while return try catch new null true false instanceof in",
  type: "boolean int long float double String List Map Set",
  class:
    "ArrayList HashMap HashSet Math Integer Long Double Boolean Character Objects Collections Arrays StringBuilder StringTokenizer Collectors Comparator Optional ZonedDateTime Instant LocalDate LocalDateTime Duration Period ChronoUnit ChronoField ZoneId DateTimeFormatter DayOfWeek Processors Debug",
};

/** Static methods and fields by class. */
export const STATICS: Readonly<Record<string, string>> = {
  Math: "abs ceil floor round max min pow sqrt exp log log10 PI E",
  Integer: "parseInt toString valueOf compare MAX_VALUE MIN_VALUE",
  Long: "parseLong toString valueOf compare MAX_VALUE MIN_VALUE",
  Double: "parseDouble toString valueOf compare isNaN NaN",
  Boolean: "parseBoolean toString valueOf",
  String: "valueOf join format",
  Character: "isDigit isLetter isWhitespace isUpperCase isLowerCase",
  Objects: "equals isNull nonNull requireNonNull toString",
  Collections: "sort reverse max min emptyList emptyMap frequency singletonList",
  Arrays: "asList sort stream toString",
  Collectors: "toList toSet joining counting groupingBy toMap mapping averagingDouble summingInt",
  Comparator: "comparing naturalOrder reverseOrder",
  ZonedDateTime: "parse of ofInstant",
  Instant: "ofEpochMilli ofEpochSecond parse",
  LocalDate: "parse of ofEpochDay",
  LocalDateTime: "parse of ofInstant",
  Duration: "between ofSeconds ofMinutes ofHours ofDays parse",
  Period: "between",
  ChronoUnit: "NANOS MILLIS SECONDS MINUTES HOURS DAYS WEEKS MONTHS YEARS",
  ChronoField:
    "DAY_OF_WEEK DAY_OF_MONTH DAY_OF_YEAR HOUR_OF_DAY MINUTE_OF_HOUR MINUTE_OF_DAY MONTH_OF_YEAR YEAR",
  ZoneId: "of",
  DateTimeFormatter: "ofPattern ISO_LOCAL_DATE ISO_INSTANT",
  DayOfWeek: "MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY SUNDAY",
  Processors: "bytes lowercase uppercase urlDecode",
  Debug: "explain",
};

/** Methods by the class of the value, which is only determined when a script runs. */
export const METHODS: Readonly<Record<string, string>> = {
  "doc[…]": "value values size empty length",
  String:
    "length isEmpty charAt substring contains startsWith endsWith indexOf lastIndexOf equalsIgnoreCase toLowerCase toUpperCase trim replace splitOnToken encodeBase64 decodeBase64 sha256",
  List: "add addAll get set remove size isEmpty contains indexOf sort removeIf forEach stream",
  Map: "get put getOrDefault containsKey remove keySet values entrySet putAll computeIfAbsent",
  date: "getYear getMonthValue getDayOfMonth getDayOfWeekEnum getHour getMinute getSecond toInstant toEpochMilli plusDays minusDays plusHours minusHours isBefore isAfter truncatedTo withZoneSameInstant format",
  stream: "map filter collect count sum sorted limit anyMatch allMatch findFirst mapToInt mapToDouble",
};

/** Variables by the script's purpose. */
function variables(path: string, keys: readonly string[]): string {
  if (/^\/?_ingest\b|_update|_reindex|_bulk/.test(path)) return "ctx params";
  if (keys.includes("runtime_mappings")) return "doc params emit";
  const key = keys.at(-1) ?? "";
  if (/^(?:init|map|combine)_script$/.test(key)) return "state doc params";
  if (key === "reduce_script") return "states params";
  if (/bucket_(?:script|selector)/.test(keys.join(" "))) return "params";
  return "doc params _score _value";
}

/** Returns true if the text at `keys`, from the outermost on, is a script. */
export function isScript(keys: readonly string[], path: string): boolean {
  const key = keys.at(-1) ?? "";
  if (SCRIPT_KEYS.has(key)) return true;
  const isSource = key === "source" || key === "inline";
  return isSource && (keys.some((each) => /script/.test(each)) || /_scripts\//.test(path));
}

/** A script within a request, and the cursor in it. */
interface ScriptPosition {
  /** The script's text before the cursor. */
  readonly before: string;
  /** The body's text after the cursor. */
  readonly after: string;
  readonly keys: readonly string[];
  readonly path: string;
  /** The cursor in the text of the console. */
  readonly caret: number;
}

/** Returns what may be written in a script; undefined if nothing is known. */
export function completeScript(
  { before, after, keys, path, caret }: ScriptPosition,
  fields: readonly { readonly name: string; readonly type: string }[],
): Completion | undefined {
  const field = /\bdoc\[\s*('|\\")([\w.@-]*)$/.exec(before);
  if (field !== null) {
    const [, quote, word] = field as unknown as [string, string, string];
    const names = fields.filter(({ type }) => type !== "text").map(({ name, type }) => [name, type] as const);
    const end = after.startsWith(quote) ? "" : after.startsWith("]") ? quote : `${quote}]`;
    return matching(word, caret, names, end);
  }
  const member = /([\w)\]'"]+)\??\.(\w*)$/.exec(before);
  if (member !== null) {
    const [, owner, word] = member;
    if (/^\d+$/.test(owner!)) return undefined;
    const own = Object.hasOwn(STATICS, owner!) ? { [owner!]: STATICS[owner!]! } : METHODS;
    return matching(word!, caret, named(own));
  }
  const word = /[A-Za-z_]\w*$/.exec(before)?.[0] ?? "";
  if (/['"]\w*$/.test(before) && isQuoted(before)) return undefined;
  return matching(word, caret, [
    ...variables(path, keys)
      .split(" ")
      .map((name): [string, string] => [name, "variable"]),
    ...named(WORDS),
  ]);
}

/** True within a text of the script, which has single quotes or escaped double ones. */
function isQuoted(before: string): boolean {
  return (before.match(/'/g) ?? []).length % 2 === 1 || (before.match(/\\"/g) ?? []).length % 2 === 1;
}

function named(lists: Readonly<Record<string, string>>): [name: string, detail: string][] {
  return Object.entries(lists).flatMap(([detail, names]) =>
    names.split(" ").map((name): [string, string] => [name, detail]),
  );
}

/** Suggestions that begin with the word, with their ending; none if the word is complete. */
function matching(
  word: string,
  caret: number,
  names: readonly (readonly [name: string, detail: string])[],
  end = "",
): Completion | undefined {
  const wanted = word.toLowerCase();
  const found = new Map<string, Suggestion>();
  for (const [name, detail] of names) {
    if (name.toLowerCase().startsWith(wanted) && !found.has(name))
      found.set(name, { label: name, insert: name + end, caret: name.length + end.length, detail });
  }
  const items = [...found.values()];
  if (items.length === 0 || (items.length === 1 && items[0]!.label === word)) return undefined;
  return { from: caret - word.length, to: caret, items };
}
