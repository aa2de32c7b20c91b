/**
 * Discover's first requests, sent before the scripts of the pages run, so that the hub answers in the meantime. Must
 * not import modules with texts, because the language isn't chosen yet.
 */

import { HOME_PAGE, parseRoute } from "#ui/services/browser/router.ts";
import type { Answer, Fetcher } from "#ui/services/hub/json-call.ts";
import { readState } from "#ui/services/search/discover-state.ts";
import { fieldsPath, rowsRequest, searchPath } from "#ui/services/search/search-request.ts";
import { resolveRange } from "#ui/services/search/time-range.ts";

/** Requests in progress. */
export interface FirstSearch {
  /** Wall time at which the range was resolved; a search at the same time is the same request. */
  readonly nowMs: number;
  /** Returns the answer of a request that was already sent, once; sends others. */
  readonly fetch: Fetcher;
  /** Settles when all of them are answered or have failed. */
  readonly answered: Promise<unknown>;
}

/** If the lines take longer, ms, a shell without them is drawn. */
const LINES_AWAITED_MS = 120;

/** The search that was sent and has no caller yet. */
let sent: FirstSearch | undefined;

/** Sends the first requests for an address's hash if it is one of Discover. `later` sends those after them. */
export function startFirstSearch(
  hash: string,
  nowMs: number,
  fetcher: Fetcher,
  later: Fetcher = fetcher,
): void {
  const { page, parameters } = parseRoute(hash);
  if (page !== HOME_PAGE) return;
  const state = readState(parameters);
  const range = resolveRange(state.range, nowMs);
  if (range === undefined) return;
  const answers = new Map<string, Promise<Answer>>();
  const send = (path: string, init: RequestInit): void => {
    const answer = fetcher(`/es${path}`, init).then(read);
    // `take` reports the failure.
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
    return answer ?? later(address, init);
  };
  sent = { nowMs, fetch: take, answered: Promise.allSettled(answers.values()) };
}

/**
 * Resolves when the requests are answered, or after a time limit: a page drawn together with its lines has one layout
 * instead of two.
 */
export async function firstAnswers(): Promise<void> {
  if (sent === undefined) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, LINES_AWAITED_MS);
  void sent.answered.then(() => resolve());
  await promise;
  clearTimeout(timer);
}

/** Returns the first search to its first caller; undefined if none was sent. */
export function takeFirstSearch(): FirstSearch | undefined {
  const taken = sent;
  sent = undefined;
  return taken;
}

function keyOf(address: string, { method, body }: RequestInit): string {
  return `${method} ${address} ${typeof body === "string" ? body : ""}`;
}

/** Reads an answer to its end, so that its receiver needn't wait. */
async function read(answer: Answer): Promise<Answer> {
  const text = await answer.text();
  return { ok: answer.ok, status: answer.status, text: () => Promise.resolve(text) };
}
