/** Judges the answer to a malformed request: it must be a success or a refusal with a reason. */

import type { PlainAnswer, PlainRequest } from "#test/harness/pipelined-http.ts";

/** Told of requests whose client went away. */
const CLIENT_GONE = 499;

/** Returns what is wrong with an answer; undefined: nothing. */
export function faultOf({ method, path }: PlainRequest, { status, text }: PlainAnswer): string | undefined {
  if (status >= 500 && !isReasoned(status, text)) return `${status} for ${method} ${path}`;
  if (status === CLIENT_GONE) return `${status} for a client that is there`;
  if (method === "HEAD" || text === "") return undefined;
  if (status >= 200 && status < 300) return isWhole(text) ? undefined : `${status} isn't JSON`;
  if (status < 400) return `${status} is neither done nor refused`;
  if (hasFilter(path)) return undefined;
  try {
    return hasReason(status, JSON.parse(text)) ? undefined : `${status} without a reason`;
  } catch {
    return status === 400 || status === 431 || status === 414 ? undefined : `${status} isn't JSON`;
  }
}

/** True where an answer leaves out what the request didn't ask for, maybe its reason. */
export function hasFilter(path: string): boolean {
  return path.includes("filter_path");
}

/** Types of errors that the 6.5 interface answers with 500, though the request is at fault. */
const REASONED = [
  "aggregation_execution_exception",
  "search_context_exception",
  "query_phase_execution_exception",
  "unsupported_operation_exception",
  "illegal_state_exception",
];

/** Returns true for the refusals that the 6.5 interface answers with a status of 500 or more. */
function isReasoned(status: number, text: string): boolean {
  if (status === 501) return true;
  if (status === 500) return REASONED.some((type) => text.includes(type));
  if (status === 503) return text.includes("too_many_buckets_exception");
  return status === 504 && text.includes("Time exceeded");
}

function hasReason(status: number, body: unknown): boolean {
  if (typeof body !== "object" || body === null) return false;
  if ("error" in body) return true;
  return (
    status === 404 || status === 409 || ["failures", "succeeded", "timed_out"].some((name) => name in body)
  );
}

/** Texts are what they are; what begins like JSON has to be JSON. */
function isWhole(text: string): boolean {
  if (!text.startsWith("{") && !text.startsWith("[")) return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
