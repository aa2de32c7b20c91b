/** Waits for answers of this hub's shards: one subject prefix for the hub, one token per request. */

import { randomUUID } from "node:crypto";
import { AppError } from "#proto/kit/errors.ts";
import { DocResult, type tailrace } from "#proto/messages.ts";
import type { LogPort } from "./log-port.ts";

interface Waiting {
  readonly resolve: (result: tailrace.DocResult) => void;
}

/** The pending answer to a request. */
export interface Reply {
  /** Subject for DocBatch.reply. */
  readonly subject: string;
  /** Resolves with the shard's answer; throws `timeout` after `timeoutMs`. */
  wait(timeoutMs: number): Promise<tailrace.DocResult>;
  /** Must be called in the end, answered or not. */
  close(): void;
}

export class ReplyInbox {
  readonly #prefix = `reply.${randomUUID()}`;
  readonly #waiting = new Map<string, Waiting>();
  readonly #log: LogPort;
  #unsubscribe: (() => void) | undefined;
  #next = 0;

  constructor(log: LogPort) {
    this.#log = log;
  }

  start(): void {
    this.#unsubscribe = this.#log.subscribe(`${this.#prefix}.*`, ({ subject, data }) => {
      this.#waiting.get(subject)?.resolve(DocResult.decode(data));
    });
  }

  stop(): void {
    this.#unsubscribe?.();
    this.#waiting.clear();
  }

  /** Delivers an answer of one of this hub's shards; false if the request is another hub's. Needs no connection. */
  deliver(subject: string, data: Uint8Array): boolean {
    if (!subject.startsWith(`${this.#prefix}.`)) return false;
    this.#waiting.get(subject)?.resolve(DocResult.decode(data));
    return true;
  }

  open(): Reply {
    const subject = `${this.#prefix}.${(this.#next++).toString(36)}`;
    const answer = Promise.withResolvers<tailrace.DocResult>();
    this.#waiting.set(subject, { resolve: answer.resolve });
    return {
      subject,
      wait: async (timeoutMs) => {
        const late = setTimeout(() => {
          const text = "the change is stored and will be applied, but the shard has not answered in time";
          answer.reject(new AppError("timeout", text, { data: { durable: true } }));
        }, timeoutMs);
        try {
          return await answer.promise;
        } finally {
          clearTimeout(late);
        }
      },
      close: () => {
        this.#waiting.delete(subject);
      },
    };
  }
}
