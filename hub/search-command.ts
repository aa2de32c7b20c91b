/** `tailrace-hub search 'QUERY'`: lines of the logs on a terminal, asked of the search interface. */

import { AppError } from "#proto/kit/errors.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { overridesOf, PLACE_OPTIONS, parseOptions, usageError } from "./command-arguments.ts";
import { type HubSettings, loadHubSettings } from "./config.ts";

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
const TIMEOUT_MS = 60_000;
/** Holds an API key or access token; on the command line others would see it. */
const KEY_VARIABLE = "TAILRACE_API_KEY";

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
  const settings = loadHubSettings({ file: command.config, overrides: command.overrides }, env);
  const url = `${searchAddress(settings)}/${encodeURIComponent(command.index)}/_search?ignore_unavailable=true`;
  const hits = await ask(url, bodyOf(command, nowMs), env[KEY_VARIABLE] ?? "");
  const lines = hits
    .reverse()
    .map(({ _source }) => (command.json ? JSON.stringify(_source) : lineOf(_source)));
  return lines.map((line) => `${line}\n`).join("");
}

function durationOf(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw usageError(`--since ${text}: write a time such as 15m, 6h or 2d`, error);
  }
}

function bodyOf({ query, sinceMs, size }: SearchCommand, nowMs: number): unknown {
  const from = new Date(nowMs - sinceMs).toISOString();
  const filter = [{ query_string: { query } }, { range: { "@timestamp": { gte: from } } }];
  return { size, sort: [{ "@timestamp": { order: "desc" } }], query: { bool: { filter } } };
}

/** Where a hub with these settings serves this machine. */
function searchAddress(settings: HubSettings): string {
  const host = settings["http.host"] || settings["network.host"];
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const scheme = settings["tls.certificate"] === "" ? "http" : "https";
  return `${scheme}://${name.includes(":") ? `[${name}]` : name}:${settings["http.port"]}`;
}

async function ask(url: string, body: unknown, key: string): Promise<Hit[]> {
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...(key !== "" && { authorization: `Bearer ${key}` }) },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (cause) {
    const remedy = "start the hub, or name its address with -E http.host=… -E http.port=…";
    throw new AppError("unavailable", `no hub answers at ${new URL(url).origin}; ${remedy}`, { cause });
  }
  const answer = (await response.json()) as { hits?: { hits: Hit[] }; error?: { reason?: string } };
  if (response.ok && answer.hits !== undefined) return answer.hits.hits;
  const reason = answer.error?.reason ?? `status ${response.status}`;
  if (response.status === 401) {
    throw new AppError(
      "unauthenticated",
      `the hub asks who you are (${reason}); put an API key into ${KEY_VARIABLE}`,
    );
  }
  throw new AppError(response.status === 403 ? "forbidden" : "request_invalid", `the hub refused: ${reason}`);
}

/** Time, host and message; control characters of a log must not steer the terminal. */
function lineOf(source: Readonly<Record<string, unknown>>): string {
  const host = (source["host"] as { name?: unknown } | undefined)?.name ?? source["host.name"];
  const message = source["message"] ?? JSON.stringify(source);
  const parts = [source["@timestamp"], host, message].filter((part) => part !== undefined);
  return parts
    .map(String)
    .join(" ")
    .replaceAll(/[\p{Cc}]/gu, " ");
}
