/**
 * The fast path for documents of one action: new ones without ids, which most bulk requests have, and those of large bodies
 * with ids. Bytes go from the request's body to the log, with one answer of each shard for all of them. Everything else takes
 * the slow path, Documents.write.
 */

import { randomUUID } from "node:crypto";
import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { documentShapes } from "#hub/engine/kernel/document-run.ts";
import { threadKernel } from "#hub/engine/kernel/kernel.ts";
import { resultError } from "#hub/engine/operations/item-result.ts";
import { DOCUMENT_ACTIONS, idEndsOf } from "#proto/document-batch.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { tailrace } from "#proto/messages.ts";
import { blocksAllowed, extentsOf } from "./append-encoder.ts";
import { encodeMessage, type PlannedBatch, planMessages } from "./append-messages.ts";
import { type AppendRun, bytesOf } from "./append-run.ts";
import { appendTarget } from "./append-target.ts";
import type { EncodeJob, PackJob } from "./body-work.ts";
import type { BatchHeader, EncodedBatch } from "./doc-batches.ts";
import type { DocumentIds } from "./document-ids.ts";
import { KnownShapes } from "./known-shapes.ts";
import type { LogPort } from "./log-port.ts";
import type { Reply, ReplyInbox } from "./reply-inbox.ts";
import { ShardTurns } from "./shard-rotation.ts";
import type { WriteDeadline } from "./write-deadline.ts";
import { type AppendResult, WRITE_OUTCOMES, type WriteSuccess } from "./writes.ts";

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
  async prepare(run: AppendRun): Promise<IndexMetadata | null> {
    // Its documents came back from their thread because they must go one by one.
    if (run.ids !== undefined && run.lent === undefined) return null;
    const shapes = run.shapes ?? documentShapes(extentsOf(run), run.ends.length, threadKernel());
    const kind = DOCUMENT_ACTIONS[run.actions?.[0] ?? 0] === "create" ? "create" : "index";
    return appendTarget({ ...run, shapes }, this.#options.catalog, this.#shapes, { lenient: false, kind });
  }

  /**
   * Writes a run into the index that `prepare` gave. Null if the index was deleted or closed while a thread packed the run:
   * nothing was written.
   */
  async write(
    run: AppendRun,
    index: IndexMetadata,
    header: BatchHeader,
    deadline: WriteDeadline,
  ): Promise<AppendResult | null> {
    const { inbox } = this.#options;
    const replies: Reply[] = [];
    const { documents, shard } = this.#withIds(run, index);
    const reply = (): string => {
      const opened = inbox.open();
      replies.push(opened);
      return opened.subject;
    };
    const write = { index, deadline, outcomes: new Outcomes(run.ends.length) };
    try {
      const planned = planMessages(documents, {
        index,
        header,
        reply,
        ...(shard !== undefined && { shard }),
      });
      const messages = await packed(documents, planned, deadline.signal);
      if (!this.#isOpen(index)) return null;
      await this.#writeAll(messages, replies, write, run.ids !== undefined);
    } finally {
      for (const reply of replies) reply.close();
    }
    const copies = 1 + index.settings.numberOfReplicas;
    const { outcomes, versions, seqNos, failures } = write.outcomes;
    const columns = { ids: documents.ids, idEnds: idEndsOf(documents), outcomes, versions, seqNos };
    return { index: index.name, ...columns, failures, copies };
  }

  #isOpen({ name, uuid }: IndexMetadata): boolean {
    const now = this.#options.catalog.get(name);
    return now?.uuid === uuid && now.state === "open";
  }

  /** Returns a run with ids: made ones, all of one shard, if it has none. */
  #withIds(
    run: AppendRun,
    index: IndexMetadata,
  ): { readonly documents: AppendRun & { readonly ids: Uint8Array }; readonly shard?: number } {
    if (run.ids !== undefined) return { documents: { ...run, ids: run.ids } };
    const { numberOfShards } = index.settings;
    const shard = this.#turns.take(index.uuid, numberOfShards, bytesOf(run));
    return {
      documents: { ...run, ids: this.#options.ids.take(run.ends.length, shard, numberOfShards) },
      shard,
    };
  }

  /** Publishes the messages, one after another if they are ordered, and waits for their results. */
  async #writeAll(
    messages: readonly EncodedBatch[],
    replies: readonly Reply[],
    write: RunWrite,
    isOrdered: boolean,
  ): Promise<void> {
    const answers: Promise<void>[] = [];
    for (const [nth, message] of messages.entries()) {
      const refused = this.#publish(message, write);
      // Documents of one id must reach the log in their order; without ids there is none that a client could rely on.
      if (isOrdered) await refused;
      answers.push(answer(message, refused, replies[nth]!, write));
    }
    await Promise.all(answers);
  }

  /** Publishes a message. Returns why it wasn't stored. */
  async #publish({ subject, data }: EncodedBatch, { deadline }: RunWrite): Promise<AppError | undefined> {
    const { signal } = deadline;
    try {
      await this.#options.log.publish(subject, data, { messageId: randomUUID(), wait: false, signal });
      return undefined;
    } catch (error) {
      return toAppError(error);
    }
  }
}

/** What the messages of a run have in common. */
interface RunWrite {
  readonly index: IndexMetadata;
  readonly deadline: WriteDeadline;
  readonly outcomes: Outcomes;
}

/** Writes the results of a message's documents to their indexes. */
async function answer(
  { places, shard }: EncodedBatch,
  refused: Promise<AppError | undefined>,
  reply: Reply,
  { index, deadline, outcomes }: RunWrite,
): Promise<void> {
  const of = { index: index.name, index_uuid: index.uuid, shard: String(shard) };
  try {
    const refusal = await refused;
    if (refusal !== undefined) throw refusal;
    const { items } = await reply.wait(deadline.leftMs);
    outcomes.fill(places, items, of);
  } catch (error) {
    const failure = toAppError(error);
    for (const place of places) outcomes.failures.set(place, failure);
  }
}

/** Packs the messages: here, or by the thread that has the documents. Throws what LentBody.run throws. */
async function packed(
  run: AppendRun & { readonly ids: Uint8Array },
  planned: readonly PlannedBatch[],
  signal: AbortSignal,
): Promise<EncodedBatch[]> {
  const { lent } = run;
  if (lent === undefined) return planned.map((each) => encodeMessage(run, each));
  const data = await lent.body.run(packJob(run, planned), signal);
  return planned.map((each, nth) => ({ ...each, data: data[nth]! }));
}

/** A part's columns may be views of the whole request's, which would be sent completely. Throws internal. */
function packJob(
  run: AppendRun & { readonly ids: Uint8Array },
  planned: readonly PlannedBatch[],
): PackJob | EncodeJob {
  const { start, starts, ends, gap, ids, idEnds, actions } = run;
  const columns = { start, ends: ends.slice(), gap, ids: new Uint8Array(ids), indexNames: [] };
  if (starts === undefined && idEnds === undefined) {
    const messages = planned.map(({ head, places }) => ({ head, first: places[0]!, count: places.length }));
    return { kind: "pack", ...columns, messages, areBlocksKnown: blocksAllowed() };
  }
  if (starts === undefined || idEnds === undefined || actions === undefined)
    throw new AppError("internal", "documents with chosen ids lack columns");
  const messages = planned.map(({ head, places }) => ({ head, places: places.slice() }));
  const more = { starts: starts.slice(), idEnds: idEnds.slice(), actions: actions.slice() };
  return { kind: "encode", ...columns, ...more, messages };
}

/** Columns of AppendResult. */
class Outcomes {
  readonly outcomes: Uint8Array;
  readonly versions: Float64Array;
  readonly seqNos: Float64Array;
  readonly failures = new Map<number, AppError>();

  constructor(count: number) {
    this.outcomes = new Uint8Array(count);
    this.versions = new Float64Array(count);
    this.seqNos = new Float64Array(count);
  }

  /** Writes the shard's results for a message's documents to their places. */
  fill(
    places: Uint32Array,
    items: readonly tailrace.DocItemResult.$Properties[],
    of: Readonly<Record<string, string>>,
  ): void {
    let next = 0;
    for (const item of items) {
      const { count, result, version, seqNo } = item;
      const outcome = WRITE_OUTCOMES.indexOf(result as WriteSuccess["result"]);
      const end = Math.min(next + (count || 1), places.length);
      for (let nth = 0; next < end; next++, nth++) {
        const place = places[next]!;
        if (item.errorCode) this.failures.set(place, resultError(item, of));
        else {
          this.outcomes[place] = outcome;
          this.versions[place] = version ?? 1;
          this.seqNos[place] = (seqNo ?? 0) + nth;
        }
      }
    }
    for (; next < places.length; next++)
      this.failures.set(places[next]!, new AppError("internal", "the shard answered with too few results"));
  }
}
