/**
 * The quick way of new documents without ids, as most bulk requests have them: bytes from the request's body to the
 * log, one answer of each shard for all of them. What isn't as simple goes the way of Documents.write.
 */

import { randomUUID } from "node:crypto";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { type AppendMessage, appendMessages } from "./append-messages.ts";
import { appendTarget } from "./append-target.ts";
import type { BatchHeader } from "./doc-batches.ts";
import { type DocumentIds, ID_CHARACTERS } from "./document-ids.ts";
import type { IndexCatalog } from "./index-catalog.ts";
import type { IndexMetadata } from "./index-metadata.ts";
import { documentError } from "./item-error.ts";
import { KnownShapes } from "./known-shapes.ts";
import type { LogPort } from "./log-port.ts";
import type { Reply, ReplyInbox } from "./reply-inbox.ts";
import type { AppendResult, AppendRun } from "./writes.ts";

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
  prepare(run: AppendRun): Promise<IndexMetadata | null> {
    return appendTarget(run, this.#options.catalog, this.#shapes, false);
  }

  /** Writes a run into the index that `prepare` gave. */
  async write(
    run: AppendRun,
    index: IndexMetadata,
    header: BatchHeader,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<AppendResult> {
    const { inbox } = this.#options;
    const replies: Reply[] = [];
    const ids = this.#options.ids.take(run.ends.length);
    const outcomes: Outcomes = { seqNos: new Float64Array(run.ends.length), failures: new Map() };
    const documents = { ...run, ids, idBytes: ID_CHARACTERS };
    const messages = appendMessages(documents, index, header, () => {
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
          for (const place of message.places) outcomes.failures.set(place, failure);
        }
      }
      await Promise.all(answered);
    } finally {
      for (const reply of replies) reply.close();
    }
    const copies = 1 + index.settings.numberOfReplicas;
    return { index: index.name, ids, idBytes: ID_CHARACTERS, ...outcomes, copies };
  }
}

/** See AppendResult. */
interface Outcomes {
  readonly seqNos: Float64Array;
  readonly failures: Map<number, AppError>;
}

/** Writes what the shard says of a message's documents to their places. */
async function answer(
  { places, shard }: AppendMessage,
  index: IndexMetadata,
  reply: Reply,
  timeoutMs: number,
  { seqNos, failures }: Outcomes,
): Promise<void> {
  try {
    const { items } = await reply.wait(timeoutMs);
    let next = 0;
    for (const { count, errorCode, errorReason, seqNo } of items) {
      const end = Math.min(next + (count || 1), places.length);
      const data = { index: index.name, index_uuid: index.uuid, shard: String(shard) };
      for (let nth = 0; next < end; next++, nth++) {
        if (errorCode) failures.set(places[next]!, documentError(errorCode, errorReason ?? "", data));
        else seqNos[places[next]!] = (seqNo ?? 0) + nth;
      }
    }
    for (; next < places.length; next++)
      failures.set(places[next]!, new AppError("internal", "the shard answered with too few results"));
  } catch (error) {
    const failure = toAppError(error);
    for (const place of places) failures.set(place, failure);
  }
}
