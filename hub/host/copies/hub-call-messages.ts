/**
 * Calls to the threads of another hub's shards, by links or core NATS: subject `hub.<id>.hosts`. Request and answer are values of
 * hub/search/wire. The caller polls for an answer that takes longer, and reads a long one in pieces. So each message is
 * small, each wait is short, and either end notices when the other hub is gone.
 */

import { decodeValue } from "#hub/search/wire/value-reader.ts";
import { encodeValue } from "#hub/search/wire/value-writer.ts";

/**
 * `call` begins a call. `wait` asks for its answer. `read` returns the bytes of the answer from `offset` on. `cancel` ends it.
 * `notify` has no answer.
 */
export type HubQuestion =
  | {
      readonly kind: "call";
      readonly id: string;
      readonly thread: number;
      readonly operation: string;
      readonly value: unknown;
      readonly parts: readonly Uint8Array[];
      /** See request-version.ts. */
      readonly version: number;
      /** Id of the calling hub. */
      readonly from: string;
    }
  | { readonly kind: "notify"; readonly thread: number; readonly operation: string; readonly value: unknown }
  | { readonly kind: "wait" | "cancel"; readonly id: string }
  | { readonly kind: "read"; readonly id: string; readonly offset: number };

/** `bytes`: of the whole answer (a HubReply); `piece`: its bytes from the offset on. */
export type HubAnswer =
  | { readonly state: "running" }
  | { readonly state: "done"; readonly bytes: number; readonly piece: Uint8Array }
  | { readonly state: "refused"; readonly error: unknown };

/** The result of a call. */
export interface HubReply {
  readonly failed: boolean;
  /** The error if it failed. */
  readonly value: unknown;
  readonly parts: readonly Uint8Array[];
  readonly warnings: readonly string[];
  /** Why the answering hub's copies may have lacked writes when the call began. Hubs of earlier versions don't send it. */
  readonly behind?: unknown;
}

/** Maximum bytes of an answer in one message: below NATS' limit, which may be set down to 1 MiB. */
export const PIECE_BYTES = 768 * 1_024;

/** Maximum bytes of a request: below the message limit that hubs need, 8 MiB. */
export const QUESTION_BYTES = 7 * 1_024 ** 2;

/** Time that one message waits for an answer. A hub that is stuck is noticed soon after it. */
export const WAIT_MS = 1_000;

export function hostsSubject(hub: string): string {
  return `hub.${hub}.hosts`;
}

export function encodeQuestion(question: HubQuestion): Uint8Array {
  return encodeValue(question);
}

/** Throws data_corrupt. */
export function decodeQuestion(data: Uint8Array): HubQuestion {
  return decodeValue(data) as HubQuestion;
}

export function encodeHubAnswer(answer: HubAnswer): Uint8Array {
  return encodeValue(answer);
}

/** Throws data_corrupt. */
export function decodeHubAnswer(data: Uint8Array): HubAnswer {
  return decodeValue(data) as HubAnswer;
}
