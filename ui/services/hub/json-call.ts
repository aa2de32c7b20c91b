/** Calls that answer with JSON, and the errors of failed ones. */

import { msg, str } from "@lit/localize";
import { leaveIfSignedOut } from "#ui/services/browser/sign-in.ts";

/** Parts of an answer that are shown unchanged, whatever the hub's version puts into them. */
export type Facts = Readonly<Record<string, unknown>>;

/** A failed call, in words for people: what failed and what to do. */
export class HubError extends Error {
  /** HTTP status; 0 if the hub couldn't be reached. */
  readonly status: number;
  /** The interface's own name of the error: `query_shard_exception` … */
  readonly type: string;
  /** What to do; "" if nothing is known. */
  readonly hint: string;
  /** Members of the error in the answer. */
  readonly details: Facts;

  constructor(
    status: number,
    type: string,
    message: string,
    hint: string,
    options: { readonly cause?: unknown; readonly details?: Facts } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "HubError";
    this.status = status;
    this.type = type;
    this.hint = hint;
    this.details = options.details ?? {};
  }
}

/** What to do about an error, by its type where that is known, else by its status. */
export interface Hints {
  readonly types?: Readonly<Record<string, string>>;
  readonly statuses: Readonly<Record<number, string>>;
}

/** What a call needs of an answer. */
export type Answer = Pick<Response, "ok" | "status" | "text">;

/** What a request may have beside what fetch takes. */
export interface CallInit extends RequestInit {
  /** Called with the answer so far of a search that comes in parts, and how many of the indices it covers. */
  readonly onPart?: (text: string, done: number, of: number) => void;
}

/** What a call needs of a browser's fetch. */
export type Fetcher = (address: string, init: CallInit) => Promise<Answer>;

export interface JsonCall {
  readonly method: string;
  readonly address: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly onPart?: CallInit["onPart"];
}

/** Sends a call; returns its answer, undefined for an empty one. Throws HubError. */
export async function callJson(fetcher: Fetcher, call: JsonCall, hints: Hints): Promise<unknown> {
  const { method, address, body, signal, onPart } = call;
  const headers: Record<string, string> = { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = "application/json";
  let response: Answer;
  try {
    response = await fetcher(address, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
      ...(onPart !== undefined && { onPart }),
    });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new HubError(0, "unreachable", msg("The hub can't be reached."), hints.statuses[0] ?? "", {
      cause,
    });
  }
  const text = await response.text();
  // An answer to a request that was sent before the page was loaded can't be aborted in flight.
  signal?.throwIfAborted();
  if (!response.ok) {
    leaveIfSignedOut(response.status);
    throw errorOf(response.status, text, hints);
  }
  return text === "" ? undefined : (JSON.parse(text) as unknown);
}

/** Returns what a page shows of anything thrown. */
export function toHubError(error: unknown): HubError {
  if (error instanceof HubError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new HubError(0, "internal", message, msg("Reload the page."), { cause: error });
}

/** Returns an object as facts; anything else as none. */
export function asFacts(value: unknown): Facts {
  return typeof value === "object" && value !== null ? (value as Facts) : {};
}

interface ErrorCause {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly caused_by?: ErrorCause;
  readonly root_cause?: readonly ErrorCause[];
}

function errorOf(status: number, text: string, hints: Hints): HubError {
  const { error, message } = bodyOf(text);
  const cause = typeof error === "string" ? { reason: message ?? error } : (error ?? {});
  const root = deepestCause(cause.root_cause?.[0] ?? cause);
  const type = root.type ?? `status_${status}`;
  const reason = cause.message ?? root.reason ?? message ?? msg(str`The hub answered with status ${status}.`);
  // The hub's own remedy, after a semicolon, is more exact than one for all errors of a status.
  const general = reason.includes("; ") ? "" : hints.statuses[status];
  const hint = hints.types?.[type] ?? general ?? "";
  return new HubError(status, type, reason, hint, { details: asFacts(cause) });
}

function bodyOf(text: string): { readonly error?: ErrorCause | string; readonly message?: string } {
  try {
    return asFacts(JSON.parse(text) as unknown);
  } catch {
    // The page of a proxy: the status has to do.
    return {};
  }
}

function deepestCause(cause: ErrorCause): ErrorCause {
  let deepest = cause;
  while (deepest.caused_by?.reason !== undefined) deepest = deepest.caused_by;
  return deepest;
}
