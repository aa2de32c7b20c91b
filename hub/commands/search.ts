/** `tailrace-hub search 'QUERY'`: lines of the logs on a terminal, asked of the search interface. */

import { parseDuration } from "#proto/kit/units.ts";
import type { HubSettings } from "../config.ts";
import { loadCommandSettings } from "../reach.ts";
import { overridesOf, PLACE_OPTIONS, parseOptions, usageError } from "./arguments.ts";
import { addressOf, askedHub, askHub, printable } from "./running-hub.ts";

export interface SearchCommand {
  readonly name: "search";
  /** In the syntax of query_string. */
  readonly query: string;
  readonly index: string;
  /** How far back, ms. */
  readonly sinceMs: number;
  /** Lines at most, the newest ones. */
  readonly size: number;
  readonly json: boolean;
  readonly config: string | undefined;
  readonly overrides: readonly string[];
}

interface Hit {
  readonly _source: Readonly<Record<string, unknown>>;
}

/** The most that one answer of the search interface holds. */
const MAX_SIZE = 10_000;
const DEFAULT_SIZE = "500";

const OPTIONS = {
  ...PLACE_OPTIONS,
  index: { type: "string" },
  since: { type: "string" },
  size: { type: "string" },
  json: { type: "boolean" },
} as const;

/** Returns the command of the arguments behind `search`. Throws usage_invalid. */
export function parseSearchCommand(args: readonly string[]): SearchCommand {
  const { values, positionals } = parseOptions(args, OPTIONS);
  const [query = "*", extra] = positionals;
  if (extra !== undefined) throw usageError(`"${extra}" is one argument too many; quote the query`);
  const { size = DEFAULT_SIZE, since = "15m", index = "logs-*" } = values;
  const count = Number(size);
  if (!Number.isInteger(count) || count < 1 || count > MAX_SIZE) {
    throw usageError(`--size ${size}: write a number from 1 to ${MAX_SIZE}`);
  }
  return {
    name: "search",
    query,
    index,
    sinceMs: durationOf(since),
    size: count,
    json: values.json === true,
    config: values.config,
    overrides: overridesOf(values),
  };
}

/** Asks the hub and returns the lines found, oldest first. Throws unavailable, unauthenticated, forbidden, request_invalid. */
export async function runSearchCommand(
  command: SearchCommand,
  env: NodeJS.ProcessEnv,
  nowMs: number,
): Promise<string> {
  const settings = loadCommandSettings({ file: command.config, overrides: command.overrides }, env);
  const lines = await newestLines(command, new Date(nowMs - command.sinceMs), settings, env);
  return lines.map((line) => `${line}\n`).join("");
}

/** Returns the newest lines that match, oldest first, as they are printed. Throws as `runSearchCommand`. */
export async function newestLines(
  { index, query, size, json }: Pick<SearchCommand, "index" | "query" | "size" | "json">,
  from: Date | undefined,
  settings: HubSettings,
  env: NodeJS.ProcessEnv,
): Promise<string[]> {
  const filter: object[] = query === "" ? [] : [{ query_string: { query } }];
  if (from !== undefined) filter.push({ range: { "@timestamp": { gte: from.toISOString() } } });
  const sort = [{ "@timestamp": { order: "desc", unmapped_type: "date" } }];
  const url = `${addressOf(settings, "http")}/${encodeURIComponent(index)}/_search?ignore_unavailable=true`;
  const answer = await askHub<{ hits: { hits: Hit[] } }>(url, askedHub(settings, env), {
    size,
    sort,
    query: { bool: { filter } },
  });
  return answer.hits.hits.reverse().map(({ _source }) => (json ? JSON.stringify(_source) : lineOf(_source)));
}

function durationOf(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw usageError(`--since ${text}: write a time such as 15m, 6h or 2d`, error);
  }
}

/** Time, host and message. */
function lineOf(source: Readonly<Record<string, unknown>>): string {
  const host = (source["host"] as { name?: unknown } | undefined)?.name ?? source["host.name"];
  const message = source["message"] ?? JSON.stringify(source);
  const parts = [source["@timestamp"], host, message].filter((part) => part !== undefined);
  return printable(parts.map(String).join(" "));
}
