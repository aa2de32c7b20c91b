/**
 * `wait_for_active_shards`: how many copies of each shard must be on a live hub before a request is done. The default is
 * one because a write is durable in the log before it is answered.
 */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { AppError } from "#proto/kit/errors.ts";
import { fewestCopies } from "./index-health.ts";

/** Timeout of requests without `timeout`, as in 6.5. */
const CHANGE_TIMEOUT_MS = 30_000;
const WRITE_TIMEOUT_MS = 60_000;
/** Interval of the checks of the hubs. */
const LOOK_MS = 100;

type Parts = Pick<ApiContext, "cluster" | "clock" | "indices">;

/** Returns whether a request requires more than the one copy that always exists. Throws request_invalid. */
export function asksForCopies(request: ApiRequest): boolean {
  return wantedCopies(request) !== 1;
}

/** Resolves, after its timeout at the latest, with whether the copies exist that a change of an index requires. */
export function acknowledgesShards(
  parts: Parts,
  request: ApiRequest,
  names: readonly string[],
): Promise<boolean> {
  return untilActive(parts, request, names, CHANGE_TIMEOUT_MS);
}

/** Throws unavailable if a write requires more copies than exist after its timeout; nothing is written in that case. */
export async function requireActiveShards(
  parts: Parts,
  request: ApiRequest,
  names: readonly string[],
  signal = request.signal,
): Promise<void> {
  if (await untilActive(parts, request, names, WRITE_TIMEOUT_MS, signal)) return;
  const wanted = request.query["wait_for_active_shards"];
  const lacking = names
    .flatMap((name) => indicesOf(parts, name))
    .map((index) => ({ name: index.name, have: activeOf(parts, index), needed: neededOf(request, index) }))
    .filter(({ have, needed }) => have < needed)
    .map(
      ({ name, have, needed }) =>
        `[${name}] Not enough active copies to meet shard count of [${wanted}] (have ${have}, needed ${needed})`,
    );
  const timeout = request.query["timeout"] ?? "1m";
  throw new AppError(
    "unavailable",
    `${lacking.join(", ")}. Timeout: [${timeout}], request: [${request.method} ${request.uri.split("?", 1)[0]!}]; start further hubs, or lower the count`,
  );
}

/**
 * Checks before each page of a change by query that the copies exist that it requires; an index that it writes to is created
 * first.
 */
export function pageCheck(
  parts: Parts,
  request: ApiRequest,
): ((names: readonly string[], signal: AbortSignal) => Promise<void>) | undefined {
  if (!asksForCopies(request)) return undefined;
  return async (names, signal) => {
    for (const name of names) if (indicesOf(parts, name).length === 0) await parts.indices.ensure(name);
    await requireActiveShards(parts, request, names, signal);
  };
}

async function untilActive(
  parts: Parts,
  request: ApiRequest,
  names: readonly string[],
  timeoutMs: number,
  signal = request.signal,
): Promise<boolean> {
  if (!asksForCopies(request)) return true;
  const { clock } = parts;
  const untilMs = clock.monotonic() + (request.duration("timeout") ?? timeoutMs);
  for (;;) {
    if (names.every((name) => isActive(parts, request, name))) return true;
    const leftMs = untilMs - clock.monotonic();
    if (leftMs <= 0 || signal.aborted) return false;
    await clock.sleep(Math.min(LOOK_MS, leftMs), signal);
  }
}

/** A missing index is created by the write, with the number of replicas of its template. */
function isActive(parts: Parts, request: ApiRequest, name: string): boolean {
  return indicesOf(parts, name).every((index) => activeOf(parts, index) >= neededOf(request, index));
}

/** Returns the indices of a name or an alias; none if it doesn't exist. */
function indicesOf({ indices }: Parts, name: string): readonly IndexInfo[] {
  try {
    return indices.resolve(name, {});
  } catch (error) {
    if (error instanceof AppError && error.code === "index_missing") return [];
    throw error;
  }
}

function activeOf({ cluster }: Parts, index: IndexInfo): number {
  return fewestCopies(index, cluster);
}

function neededOf(request: ApiRequest, { settings }: IndexInfo): number {
  const wanted = wantedCopies(request);
  return wanted === "all" ? 1 + settings.numberOfReplicas : wanted;
}

function wantedCopies(request: ApiRequest): number | "all" {
  const value = request.query["wait_for_active_shards"];
  if (value === undefined || value === "" || value === "default") return 1;
  if (value === "all") return "all";
  if (/^\d{1,6}$/.test(value)) return Math.max(1, Number(value));
  throw new AppError(
    "request_invalid",
    `cannot parse ActiveShardCount[${value}]: wait_for_active_shards is a number of copies, or all`,
  );
}
