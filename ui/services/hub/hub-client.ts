/** The hub's own interface below /api. */

import { msg, str } from "@lit/localize";
import { leaveIfSignedOut } from "#ui/services/browser/sign-in.ts";
import { SearchError } from "#ui/services/search/search-client.ts";

/** Answers are shown as they are, whatever the hub's version puts into them. */
export type Facts = Readonly<Record<string, unknown>>;

const HINTS: Readonly<Record<number, string>> = {
  401: msg("Sign in again."),
  403: msg("Ask an administrator for the right to do this."),
  404: msg("It may have been deleted, or this hub is too old for it."),
  409: msg("Load the page anew to see what is there now."),
  413: msg("Make it smaller."),
  503: msg("The hub isn't ready: try again in a moment."),
};

/** Returns the hub's state; throws SearchError. */
export async function fetchStatus(signal: AbortSignal): Promise<Facts> {
  return asFacts(await callHub("GET", "/api/status", undefined, signal));
}

/** Returns the agents the hub has heard of, an empty list where it knows none; throws SearchError. */
export async function fetchAgents(signal: AbortSignal): Promise<Facts[]> {
  const answer = await callHub("GET", "/api/agents", undefined, signal);
  const list = Array.isArray(answer) ? answer : asFacts(answer)["agents"];
  return Array.isArray(list) ? list.map(asFacts) : [];
}

/** Returns an agent with its files, undefined where the hub hasn't heard of it; throws SearchError. */
export async function fetchAgent(id: string, signal: AbortSignal): Promise<Facts | undefined> {
  try {
    return asFacts(await callHub("GET", `/api/agents/${encodeURIComponent(id)}`, undefined, signal));
  } catch (error) {
    if (error instanceof SearchError && error.status === 404) return undefined;
    throw error;
  }
}

/** Calls the hub and returns its answer, undefined for an empty one. Throws SearchError in the hub's words. */
export async function callHub(
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<unknown> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = "application/json";
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new SearchError(0, "unreachable", msg("The hub can't be reached."), msg("Is it running?"), cause);
  }
  const text = await response.text();
  if (!response.ok) {
    leaveIfSignedOut(response.status);
    const message = reasonOf(text) ?? msg(str`${path} answered with status ${response.status}.`);
    throw new SearchError(response.status, "status", message, HINTS[response.status] ?? "");
  }
  return text === "" ? undefined : (JSON.parse(text) as unknown);
}

/** Returns what a page shows of anything thrown. */
export function toSearchError(error: unknown): SearchError {
  if (error instanceof SearchError) return error;
  return new SearchError(0, "internal", error instanceof Error ? error.message : String(error), "", error);
}

/** Returns an object as facts; anything else as none. */
export function asFacts(value: unknown): Facts {
  return typeof value === "object" && value !== null ? (value as Facts) : {};
}

function reasonOf(text: string): string | undefined {
  try {
    const { error, message } = JSON.parse(text) as {
      error?: { message?: string; reason?: string } | string;
      message?: string;
    };
    return typeof error === "string" ? (message ?? error) : (error?.message ?? error?.reason ?? message);
  } catch {
    // A proxy's page, say: the status has to do.
    return undefined;
  }
}
