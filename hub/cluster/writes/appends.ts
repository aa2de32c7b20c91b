/**
 * The fast path for new documents without ids, which most bulk requests have: bytes go from the request's body to the log,
 * with one answer of each shard for all of them. Everything else takes the slow path, Documents.write.
 */

import { randomUUID } from "node:crypto";
import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { documentShapes } from "#hub/engine/kernel/document-run.ts";
import { threadKernel } from "#hub/engine/kernel/kernel.ts";
import { resultError } from "#hub/engine/operations/item-result.ts";
import { DOCUMENT_ACTIONS, type DocumentBatch } from "#proto/document-batch.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { tailrace } from "#proto/messages.ts";
import { blocksAllowed, extentsOf } from "./append-encoder.ts";
import { encodeMessage, type PlannedBatch, planMessages } from "./append-messages.ts";
import { type AppendRun, bytesOf, type LentBody } from "./append-run.ts";
import { appendTarget } from "./append-target.ts";
import type { BatchHeader, EncodedBatch } from "./doc-batches.ts";
import { type DocumentIds, ID_CHARACTERS } from "./document-ids.ts";
import { KnownShapes } from "./known-shapes.ts";
import type { LogPort } from "./log-port.ts";
import type { Reply, ReplyInbox } from "./reply-inbox.ts";
import { ShardTurns } from "./shard-rotation.ts";
import type { WriteDeadline } from "./write-deadline.ts";
import type { AppendResult } from "./writes.ts";

export interface AppendsOptions {
  readonly log: LogPort;
  readonly catalog: IndexCatalog;
  readonly ids: DocumentIds;
  readonly inbox: ReplyInbox;
  readonly now: () => number;
}

export class Appends {
  readonly #options: AppendsOptions;
  readonly #shapes = new KnownShapes();
  readonly #turns: ShardTurns;

  constructor(options: AppendsOptions) {
    this.#options = options;
    this.#turns = new ShardTurns(options.now);
  }

  /** The index of a run, once all fields of its documents are in the mapping; null if the slow path is needed. */
  prepare(run: AppendRun): Promise<IndexMetadata | null> {
    const shapes = run.shapes ?? documentShapes(extentsOf(run), run.ends.length, threadKernel());
    const kind = DOCUMENT_ACTIONS[run.actions?.[0] ?? 0] === "create" ? "create" : "index";
    return appendTarget({ ...run, shapes }, this.#options.catalog, this.#shapes, { lenient: false, kind });
  }

  /** Writes a run into the index that `prepare` gave. */
  async write(
    run: AppendRun,
    index: IndexMetadata,
    header: BatchHeader,
    deadline: WriteDeadline,
  ): Promise<AppendResult> {
    const { inbox } = this.#options;
    const replies: Reply[] = [];
    const shard = this.#turns.take(index.uuid, index.settings.numberOfShards, bytesOf(run));
    const ids = this.#options.ids.take(run.ends.length, shard, index.settings.numberOfShards);
    const outcomes: Outcomes = { seqNos: new Float64Array(run.ends.length), failures: new Map() };
    const reply = (): string => {
      const opened = inbox.open();
      replies.push(opened);
      return opened.subject;
    };
    const write = { index, deadline, outcomes };
    try {
      const planned = planMessages({ ...run, ids }, { index, header, shard, reply });
      const messages =
        run.lent === undefined
          ? planned.map((each) => encodeMessage({ ...run, ids }, each))
          : await packed(run.lent.body, { ...run, ids }, planned, deadline.signal);
      // All at once: documents without ids have no order that a client could rely on.
      await Promise.all(messages.map((message, nth) => this.#write(message, replies[nth]!, write)));
    } finally {
      for (const reply of replies) reply.close();
    }
    const copies = 1 + index.settings.numberOfReplicas;
    return { index: index.name, ids, idBytes: ID_CHARACTERS, ...outcomes, copies };
  }

  /** Publishes a message and writes the results of its documents to their places. */
  async #write(message: EncodedBatch, reply: Reply, write: RunWrite): Promise<void> {
    const { subject, data, places, shard } = message;
    const { index, deadline, outcomes } = write;
    const { signal } = deadline;
    try {
      await this.#options.log.publish(subject, data, { messageId: randomUUID(), wait: false, signal });
      const { items } = await reply.wait(deadline.leftMs);
      const of = { index: index.name, index_uuid: index.uuid, shard: String(shard) };
      fillOutcomes(places, items, of, outcomes);
    } catch (error) {
      const failure = toAppError(error);
      for (const place of places) outcomes.failures.set(place, failure);
    }
  }
}

/** What the messages of a run have in common. */
interface RunWrite {
  readonly index: IndexMetadata;
  readonly deadline: WriteDeadline;
  readonly outcomes: Outcomes;
}

/** Has the messages packed by the thread that has the documents. Throws what LentBody.run throws. */
async function packed(
  body: LentBody,
  { start, ends, gap, ids }: DocumentBatch,
  planned: readonly PlannedBatch[],
  signal: AbortSignal,
): Promise<EncodedBatch[]> {
  const messages = planned.map(({ head, places }) => ({ head, first: places[0]!, count: places.length }));
  // A part's columns may be views of the whole request's, which would be sent completely.
  const columns = { start, ends: ends.slice(), gap, ...(ids && { ids: new Uint8Array(ids) }) };
  const job = { kind: "pack", ...columns, messages, areBlocksKnown: blocksAllowed() } as const;
  const data = await body.run(job, signal);
  return planned.map((each, nth) => ({ ...each, data: data[nth]! }));
}

/** See AppendResult. */
interface Outcomes {
  readonly seqNos: Float64Array;
  readonly failures: Map<number, AppError>;
}

/** Writes the shard's results for a message's documents to their places. */
function fillOutcomes(
  places: Uint32Array,
  items: readonly tailrace.DocItemResult.$Properties[],
  of: Readonly<Record<string, string>>,
  { seqNos, failures }: Outcomes,
): void {
  let next = 0;
  for (const item of items) {
    const { count, seqNo } = item;
    const end = Math.min(next + (count || 1), places.length);
    for (let nth = 0; next < end; next++, nth++) {
      if (item.errorCode) failures.set(places[next]!, resultError(item, of));
      else seqNos[places[next]!] = (seqNo ?? 0) + nth;
    }
  }
  for (; next < places.length; next++)
    failures.set(places[next]!, new AppError("internal", "the shard answered with too few results"));
}
