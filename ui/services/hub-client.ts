/** The hub's own interface: its state and its agents. */

import { SearchError } from "./search-client.ts";

/** Answers are shown as they are, whatever the hub's version puts into them. */
export type Facts = Readonly<Record<string, unknown>>;

/** Returns the hub's state; throws SearchError. */
export async function fetchStatus(signal: AbortSignal): Promise<Facts> {
  return asFacts(await get("/api/status", signal));
}

/** Returns the agents the hub has heard of, an empty list where it knows none; throws SearchError. */
export async function fetchAgents(signal: AbortSignal): Promise<Facts[]> {
  const answer = await get("/api/agents", signal);
  const list = Array.isArray(answer) ? answer : asFacts(answer)["agents"];
  return Array.isArray(list) ? list.map(asFacts) : [];
}

async function get(path: string, signal: AbortSignal): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(path, { signal, headers: { accept: "application/json" } });
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new SearchError(0, "unreachable", "The hub can't be reached.", "Is it running?", cause);
  }
  if (!response.ok)
    throw new SearchError(response.status, "status", `${path} answered with status ${response.status}.`, "");
  return (await response.json()) as unknown;
}

function asFacts(value: unknown): Facts {
  return typeof value === "object" && value !== null ? (value as Facts) : {};
}
