/** The hub's own interface below /api. */

import { msg } from "@lit/localize";
import { hubFetch } from "./hub-connection.ts";
import { asFacts, callJson, type Facts, type Hints, HubError } from "./json-call.ts";

const HINTS: Hints = {
  statuses: {
    0: msg("Is it running?"),
    401: msg("Sign in again."),
    403: msg("Ask an administrator for the right to do this."),
    404: msg("It may have been deleted, or this hub is too old for it."),
    409: msg("Reload the page to see the current state."),
    413: msg("Make it smaller."),
    503: msg("The hub isn't ready: try again in a moment."),
  },
};

/** Returns the hub's state; throws HubError. */
export async function fetchStatus(signal: AbortSignal): Promise<Facts> {
  return asFacts(await callHub("GET", "/api/status", undefined, signal));
}

/** Returns the agents that reported to the hub; throws HubError. */
export async function fetchAgents(signal: AbortSignal): Promise<Facts[]> {
  const answer = await callHub("GET", "/api/agents", undefined, signal);
  const list = Array.isArray(answer) ? answer : asFacts(answer)["agents"];
  return Array.isArray(list) ? list.map(asFacts) : [];
}

/** Returns an agent with its files, undefined if none of this id reported; throws HubError. */
export async function fetchAgent(id: string, signal: AbortSignal): Promise<Facts | undefined> {
  try {
    return asFacts(await callHub("GET", `/api/agents/${encodeURIComponent(id)}`, undefined, signal));
  } catch (error) {
    if (error instanceof HubError && error.status === 404) return undefined;
    throw error;
  }
}

/** Calls the hub and returns its answer, undefined for an empty one. Throws HubError in the hub's words. */
export function callHub(
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<unknown> {
  return callJson(hubFetch, { method, address: path, body, signal }, HINTS);
}
