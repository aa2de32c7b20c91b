/**
 * The quick way of new documents without ids, as most bulk requests have them: bytes from the request's body to the
 * log, one answer of each shard for all of them. What isn't as simple goes the way of Documents.write.
 */

import { randomUUID } from "node:crypto";
import { jsonShape } from "#proto/codec/json-shape.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { type AppendMessage, type AppendRun, appendMessages } from "./append-messages.ts";
import type { BatchHeader } from "./doc-batches.ts";
import type { DocumentIds } from "./document-ids.ts";
import type { IndexCatalog } from "./index-catalog.ts";
import type { IndexMetadata } from "./index-metadata.ts";
import { documentError } from "./item-error.ts";
import { KnownShapes } from "./known-shapes.ts";
import type { LogPort } from "./log-port.ts";
import type { Reply, ReplyInbox } from "./reply-inbox.ts";

/** What became of the documents of a run, by their place in it. */
export interface AppendResult {
  /** Name of the index. */
  readonly index: string;
  readonly ids: readonly string[];
  /** Sequence number, or why it isn't in. All that are in are new: version 1. */
  readonly outcomes: readonly (number | AppError)[];
  /** Copies that an index has of a document. */
  readonly copies: number;
}

export interface AppendsOptions {
  readonly log: LogPort;
  readonly catalog: IndexCatalog;
  readonly ids: DocumentIds;
  readonly inbox: ReplyInbox;
}

export class Appends {
  readonly #options: AppendsOptions;
  readonly #shapes = new KnownShapes();

  constructor(options: AppendsOptions) {
    this.#options = options;
  }

  /** The index of a run, once all fields of its documents are in the mapping; null where not all is simple. */
  async prepare({ index: name, bytes, starts, stops }: AppendRun): Promise<IndexMetadata | null> {
    const { catalog } = this.#options;
    try {
      let index = await catalog.ensure(name);
      if (index.state === "close") return null;
      for (let place = 0; place < starts.length; place++) {
        const shape = jsonShape(bytes, starts[place], stops[place]);
        if (this.#shapes.has(index, shape)) continue;
        const source = bytes.subarray(starts[place], stops[place]);
        const fields = this.#shapes.missing(index, source, false, shape);
        if (fields === null) continue;
        await catalog.putMapping(index.name, fields);
        index = catalog.get(index.name) ?? index;
      }
      return index;
    } catch (error) {
      const failure = toAppError(error);
      if (failure.retryable) throw failure;
      // A document that isn't one fails alone, which `write` sees to.
      return null;
    }
  }

  /** Writes a run into the index that `prepare` gave. */
  async write(
    run: AppendRun,
    index: IndexMetadata,
    header: BatchHeader,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<AppendResult> {
    const { ids: documentIds, inbox } = this.#options;
    const replies: Reply[] = [];
    const ids: string[] = [];
    const outcomes = new Array<number | AppError>(run.starts.length);
    const messages = appendMessages(run, index, header, documentIds, ids, () => {
      const reply = inbox.open();
      replies.push(reply);
      return reply.subject;
    });
    const answered: Promise<void>[] = [];
    try {
      for (const [nth, message] of messages.entries()) {
        try {
          const options = { messageId: randomUUID(), wait: false, signal };
          await this.#options.log.publish(message.subject, message.data, options);
          answered.push(answer(message, index, replies[nth]!, timeoutMs, outcomes));
        } catch (error) {
          const failure = toAppError(error);
          for (const place of message.places) outcomes[place] = failure;
        }
      }
      await Promise.all(answered);
    } finally {
      for (const reply of replies) reply.close();
    }
    return { index: index.name, ids, outcomes, copies: 1 + index.settings.numberOfReplicas };
  }
}

/** Writes what the shard says of a message's documents to their places. */
async function answer(
  { places, shard }: AppendMessage,
  index: IndexMetadata,
  reply: Reply,
  timeoutMs: number,
  outcomes: (number | AppError)[],
): Promise<void> {
  try {
    const { items } = await reply.wait(timeoutMs);
    let next = 0;
    for (const { count, errorCode, errorReason, seqNo } of items) {
      const end = Math.min(next + (count || 1), places.length);
      const data = { index: index.name, index_uuid: index.uuid, shard: String(shard) };
      for (let nth = 0; next < end; next++, nth++) {
        outcomes[places[next]!] = errorCode
          ? documentError(errorCode, errorReason ?? "", data)
          : (seqNo ?? 0) + nth;
      }
    }
    for (; next < places.length; next++)
      outcomes[places[next]!] = new AppError("internal", "the shard answered with too few results");
  } catch (error) {
    const failure = toAppError(error);
    for (const place of places) outcomes[place] = failure;
  }
}
