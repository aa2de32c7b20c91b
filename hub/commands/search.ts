/** `tailrace-hub search 'QUERY'`: prints log lines that match, through the search interface. */

import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { loadCommandSettings } from "#hub/node/settings/reach-file.ts";
import { printable, printableJson } from "#proto/kit/printable.ts";
import { DAY_MS, parseDuration } from "#proto/kit/units.ts";
import { overridesOf, PLACE_OPTIONS, parseOptions, usageError } from "./arguments.ts";
import { addressOf, askedHub, askHub } from "./running-hub.ts";

export interface SearchCommand {
  readonly name: "search";
  /** Query in query_string syntax. */
  readonly query: string;
  readonly index: string;
  /** Start of the range as given: a duration back from now, or a time. */
  readonly since: string;
  /** End of the range in the same form; empty: none. */
  readonly until: string;
  /** Maximum number of lines; the newest are printed. */
  readonly size: number;
  readonly json: boolean;
  readonly config: string | undefined;
  readonly overrides: readonly string[];
}

interface Hit {
  readonly _source: Readonly<Record<string, unknown>>;
}

/** Maximum size of one response. */
const MAX_SIZE = 10_000;
const DEFAULT_SIZE = "500";

/** Lines of one file with the same time keep their order, so that stack traces stay readable. */
const NEWEST_FIRST = [
  { "@timestamp": { order: "desc", unmapped_type: "date" } },
  { "log.offset": { order: "desc", unmapped_type: "long" } },
];

const OPTIONS = {
  ...PLACE_OPTIONS,
  index: { type: "string" },
  since: { type: "string" },
  until: { type: "string" },
  size: { type: "string" },
  json: { type: "boolean" },
} as const;

/** Parses the arguments after `search`. Throws usage_invalid. */
export function parseSearchCommand(args: readonly string[]): SearchCommand {
  const { values, positionals } = parseOptions(args, OPTIONS);
  const [query = "*", extra] = positionals;
  if (extra !== undefined) throw usageError(`unexpected argument "${extra}"; quote the query`);
  const { size = DEFAULT_SIZE, since = "15m", until = "", index = "logs-*" } = values;
  const count = Number(size);
  if (!Number.isInteger(count) || count < 1 || count > MAX_SIZE) {
    throw usageError(`--size ${size}: write a number from 1 to ${MAX_SIZE}`);
  }
  momentOf("--since", since, 0);
  if (until !== "") momentOf("--until", until, 0);
  return {
    name: "search",
    query,
    index,
    since,
    until,
    size: count,
    json: values.json === true,
    config: values.config,
    overrides: overridesOf(values),
  };
}

/** Result of a search: lines for standard output, a remark for standard error. */
export interface SearchOutcome {
  readonly output: string;
  readonly remark: string;
}

/** Queries the hub for the lines, oldest first. Throws unavailable, unauthenticated, forbidden, request_invalid. */
export async function runSearchCommand(
  command: SearchCommand,
  env: NodeJS.ProcessEnv,
  nowMs: number,
): Promise<SearchOutcome> {
  const settings = loadCommandSettings({ file: command.config, overrides: command.overrides }, env);
  const { since, until } = command;
  const from = momentOf("--since", since, nowMs);
  const to = until === "" ? undefined : momentOf("--until", until, nowMs);
  const lines = await newestLines(command, { from, to }, settings, env);
  if (lines.length > 0) return { output: lines.map((line) => `${line}\n`).join(""), remark: "" };
  const { sources, shards } = await search({ ...command, size: 1 }, {}, settings, env);
  if (shards === 0) return { output: "", remark: `no index matches ${command.index}` };
  return { output: "", remark: emptyRemark(command, sources[0]?.["@timestamp"]) };
}

/** A time range; an absent bound leaves that side open. */
export interface Span {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

type Wanted = Pick<SearchCommand, "index" | "query" | "size">;
type Source = Readonly<Record<string, unknown>>;

/** Returns the newest lines of `span` that match, oldest first, formatted. Throws the same errors as `runSearchCommand`. */
export async function newestLines(
  { json, ...wanted }: Wanted & Pick<SearchCommand, "json">,
  span: Span,
  settings: HubSettings,
  env: NodeJS.ProcessEnv,
): Promise<string[]> {
  const { sources } = await search(wanted, span, settings, env);
  return sources.reverse().map((source) => (json ? printableJson(source) : lineOf(source)));
}

interface Answer {
  readonly hits: { readonly hits: readonly Hit[] };
  readonly _shards?: { readonly total: number };
}

/** Returns hits newest first; `shards`: how many were searched, 0 if no index matches. */
async function search(
  { index, query, size }: Wanted,
  { from, to }: Span,
  settings: HubSettings,
  env: NodeJS.ProcessEnv,
): Promise<{ sources: Source[]; shards: number | undefined }> {
  // The options of Discover's searches.
  const text = { query, type: "cross_fields", default_operator: "AND", lenient: false };
  const filter: object[] = query === "" ? [] : [{ query_string: text }];
  const range = {
    ...(from !== undefined && { gte: from.toISOString() }),
    ...(to !== undefined && { lt: to.toISOString() }),
  };
  if (Object.keys(range).length > 0) filter.push({ range: { "@timestamp": range } });
  const url = `${addressOf(settings, "http")}/${encodeURIComponent(index)}/_search?ignore_unavailable=true`;
  const answer = await askHub<Answer>(url, askedHub(settings, env), {
    size,
    sort: NEWEST_FIRST,
    query: { bool: { filter } },
  });
  return { sources: answer.hits.hits.map(({ _source }) => _source), shards: answer._shards?.total };
}

/** Explains an empty result. */
function emptyRemark({ index, since, until }: SearchCommand, newest: unknown): string {
  const where = `no line of ${index} matches`;
  const newestMs = typeof newest === "string" ? Date.parse(newest) : Number.NaN;
  if (Number.isNaN(newestMs)) return `${where} at any time`;
  const when = until === "" ? `since ${since}` : `since ${since} until ${until}`;
  const dayBefore = new Date(newestMs - DAY_MS).toISOString().slice(0, DAY_LENGTH);
  return `${where} ${when}; the newest that does is of ${new Date(newestMs).toISOString()}: try --since ${dayBefore}`;
}

/** A day, or a time, in ISO 8601; without a zone it is local time. */
const MOMENT = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;
const DAY_LENGTH = 10;

/** Parses a duration back from `nowMs` or an absolute time. Throws usage_invalid. */
function momentOf(option: string, text: string, nowMs: number): Date {
  // Date would parse a day alone as UTC.
  const moment = MOMENT.test(text)
    ? new Date(text.length === DAY_LENGTH ? `${text}T00:00` : text)
    : undefined;
  if (moment !== undefined && !Number.isNaN(moment.getTime())) return moment;
  try {
    return new Date(nowMs - parseDuration(text));
  } catch (error) {
    throw usageError(`${option} ${text}: write a time such as 15m, 6h or 2d, or 2026-01-31T12:00`, error);
  }
}

/** Formats time, host and message. */
function lineOf(source: Readonly<Record<string, unknown>>): string {
  const host = (source["host"] as { name?: unknown } | undefined)?.name ?? source["host.name"];
  const message = source["message"] ?? JSON.stringify(source);
  const parts = [source["@timestamp"], host, message].filter((part) => part !== undefined);
  return printable(parts.map(String).join(" "));
}
