/**
 * Messages between hubs: a request to a subject `hub.<id>.…` of one hub, and its answer. Core NATS is one transport for
 * them.
 */

export interface HubRequestOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** True: the request may be sent again if the other hub may have received it without its answer arriving here. */
  readonly repeatable?: boolean;
}

export interface HubTransport {
  /** Resolves with the answer. Throws timeout, unavailable (nobody serves the subject), cancelled, closed. */
  request(subject: string, data: Uint8Array, options: HubRequestOptions): Promise<Uint8Array>;
  /** Answers requests until the returned function is called. `answer` must not throw: the request would time out. */
  serve(subject: string, answer: HubAnswer): () => void;
}

export type HubAnswer = (message: { readonly data: Uint8Array }) => Promise<Uint8Array>;
