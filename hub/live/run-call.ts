/** Requests of the HTTP API that viewers send over the live socket; the hub provides the function that runs them. */

import type { Call } from "#proto/live.ts";

/** A request of the HTTP API. */
export interface CallRequest {
  readonly method: Call["method"];
  readonly path: string;
  /** JSON text. */
  readonly body?: string;
}

export interface CallAnswer {
  readonly status: number;
  /** JSON text; empty for an empty answer. */
  readonly body: string;
}

/** Runs a request as if its viewer had sent it over HTTP. Rejects when `signal` ends it. */
export type RunCall = (request: CallRequest, signal: AbortSignal) => Promise<CallAnswer>;
