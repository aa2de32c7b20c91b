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
  /** Answers a request that was sent with its answer, once; sends others. */
  readonly fetch: Fetcher;
  /** Settles when all of them are answered or have failed. */
  readonly answered: Promise<unknown>;
}

/** A shell without lines is drawn where they don't come so soon, ms. */
const LINES_AWAITED_MS = 120;

/** The search that was sent and not taken yet. */
let sent: FirstSearch | undefined;

/** Sends the first requests of an address's hash where it is one of Discover. `later` sends those after them. */
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
 * Resolves when what was sent is answered, or isn't for a while: a page drawn with its lines is laid out once, not
 * without them and then with them.
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

/** Reads an answer to its end, so that who takes it waits for nothing more. */
async function read(answer: Answer): Promise<Answer> {
  const text = await answer.text();
  return { ok: answer.ok, status: answer.status, text: () => Promise.resolve(text) };
}
