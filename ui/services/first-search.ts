/**
 * Discover's first requests, sent before the scripts of the pages are run: the hub answers meanwhile. Must not load
 * anything that holds texts, whose language isn't chosen yet.
 */

import { HOME_PAGE, parseRoute } from "../router.ts";
import { readState } from "./discover-state.ts";
import type { Fetcher } from "./search-client.ts";
import { fieldsPath, searchPath } from "./search-paths.ts";
import { rowsRequest } from "./search-request.ts";
import { resolveRange } from "./time-range.ts";

/** Requests that are under way. */
export interface FirstSearch {
  /** Wall time the range was resolved at; a search at the same time asks the same. */
  readonly nowMs: number;
  /** Answers a request that was sent with its answer, once; sends others. */
  readonly fetch: Fetcher;
}

/** What was sent and nobody has taken yet. */
let sent: FirstSearch | undefined;

/** Sends the first requests of an address's hash where it is one of Discover. */
export function startFirstSearch(hash: string, nowMs: number, fetcher: Fetcher): void {
  const { page, parameters } = parseRoute(hash);
  if (page !== HOME_PAGE) return;
  const state = readState(parameters);
  const range = resolveRange(state.range, nowMs);
  if (range === undefined) return;
  const answers = new Map<string, Promise<Response>>();
  const send = (path: string, init: RequestInit): void => {
    const answer = fetcher(`/es${path}`, init);
    // Whoever takes it hears of the failure.
    answer.catch(() => undefined);
    answers.set(keyOf(`/es${path}`, init), answer);
  };
  const headers = { accept: "application/json", "content-type": "application/json" };
  const body = JSON.stringify(rowsRequest(state, range));
  send(searchPath(state.index), { method: "POST", headers, body });
  send(fieldsPath(state.index), { method: "GET", headers: { accept: "application/json" } });
  const take: Fetcher = (address, init) => {
    const key = keyOf(address, init);
    const answer = answers.get(key);
    answers.delete(key);
    return answer ?? fetcher(address, init);
  };
  sent = { nowMs, fetch: take };
}

/** Returns the first search to who asks first; undefined where none was sent. */
export function takeFirstSearch(): FirstSearch | undefined {
  const taken = sent;
  sent = undefined;
  return taken;
}

function keyOf(address: string, { method, body }: RequestInit): string {
  return `${method} ${address} ${typeof body === "string" ? body : ""}`;
}
