/** Writes of the document API: they go through DOC like everything else, and the shard that applies them answers. */

import { randomUUID } from "node:crypto";
import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import type { ShardNumbers } from "#hub/cluster/shards/contract.ts";
import { jsonShape } from "#proto/codec/json-shape.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { TimeSlices } from "#proto/kit/time-slices.ts";
import type { tailrace } from "#proto/messages.ts";
import type { AppendRun } from "./append-run.ts";
import { Appends } from "./appends.ts";
import { DocBatches, type EncodedBatch } from "./doc-batches.ts";
import {
  checkOpen,
  checkRouting,
  checkTarget,
  docOperation,
  documentsOf,
  fill,
  type Prepared,
} from "./doc-operation.ts";
import { DocumentIds } from "./document-ids.ts";
import { KnownShapes } from "./known-shapes.ts";
import type { LogPort } from "./log-port.ts";
import { type Reply, ReplyInbox } from "./reply-inbox.ts";
import { shardOf } from "./routing.ts";
import { doneOrLate, WriteDeadline, withinReason } from "./write-deadline.ts";
import type { AppendResult, StoredDocument, WriteItem, WriteOptions, WriteResult } from "./writes.ts";

/** What writes and reads by id need of this node's shards. */
export interface ShardPort {
  get(
    index: IndexMetadata,
    shard: number,
    id: string,
  ): Promise<Omit<StoredDocument, "index" | "id" | "routing"> | null>;
  /** `only`: of an index that it has, these shards by the index's uuid. */
  refresh(indices: readonly IndexMetadata[], only?: ShardNumbers): Promise<unknown>;
  /** Resolves when all of them had a refresh that began after the call, are gone, or `signal` is aborted. */
  nextRefresh(indices: readonly IndexMetadata[], signal: AbortSignal): Promise<void>;
}

export interface DocumentsOptions {
  readonly log: LogPort;
  readonly catalog: IndexCatalog;
  readonly shards: ShardPort;
  readonly now: () => number;
}

export class Documents {
  readonly #options: DocumentsOptions;
  readonly #ids: DocumentIds;
  readonly #inbox: ReplyInbox;
  readonly #shapes = new KnownShapes();
  readonly #appends: Appends;

  constructor(options: DocumentsOptions) {
    this.#options = options;
    this.#ids = new DocumentIds(options.now);
    this.#inbox = new ReplyInbox(options.log);
    const { log, catalog, now } = options;
    this.#appends = new Appends({ log, catalog, ids: this.#ids, inbox: this.#inbox, now });
  }

  start(): void {
    this.#inbox.start();
  }

  stop(): void {
    this.#inbox.stop();
  }

  /** See ReplyInbox.deliver. */
  deliver(subject: string, data: Uint8Array): boolean {
    return this.#inbox.deliver(subject, data);
  }

  /**
   * Returns one result per item, in order. Throws only if nothing was tried (unavailable, or timeout if the metadata of an
   * index could not be read or changed in time).
   */
  async write(items: readonly WriteItem[], given: WriteOptions): Promise<WriteResult[]> {
    const options = withinReason(given);
    const deadline = new WriteDeadline(options);
    try {
      return await this.#write(items, options, deadline);
    } finally {
      deadline.end();
    }
  }

  /**
   * Fast path for documents of one action. Null if they need the slow path: nothing was tried, and `write` accepts them. Throws as
   * `write` does.
   */
  async append(run: AppendRun, given: WriteOptions): Promise<AppendResult | null> {
    const options = withinReason(given);
    const deadline = new WriteDeadline(options);
    try {
      const index = await deadline.within(this.#appends.prepare(run));
      if (index === null) return null;
      const header = this.#header(isLenient(index));
      const result = await this.#appends.write(run, index, header, deadline);
      if (result !== null) await this.#refresh([index], options, deadline);
      return result;
    } finally {
      deadline.end();
    }
  }

  async #write(
    items: readonly WriteItem[],
    options: WriteOptions,
    deadline: WriteDeadline,
  ): Promise<WriteResult[]> {
    const results: WriteResult[] = new Array(items.length);
    const replies = new Map<string, Reply>();
    const batches = new Map<boolean, DocBatches>();
    const prepared: (Prepared | undefined)[] = [];
    const indices = new Map<string, IndexMetadata>();
    const slices = new TimeSlices();
    for (const [place, item] of items.entries()) {
      if (slices.isDue) await slices.pause();
      const ready =
        this.#prepareKnown(item, place, indices) ?? (await deadline.within(this.#prepare(item, place)));
      if (ready instanceof AppError) {
        results[place] = { index: item.index, id: item.id, error: ready };
        continue;
      }
      prepared[place] = ready;
      indices.set(item.index, ready.index);
      this.#batchesFor(ready.index, batches, replies).add(ready.index, ready.operation, place);
    }
    try {
      await this.#run(batches, replies, prepared, results, deadline);
    } finally {
      for (const reply of replies.values()) reply.close();
    }
    const written = new Map(
      prepared.flatMap((each) => (each ? [[each.index.uuid, each.index] as const] : [])),
    );
    // Other shards of these indices stay as they are: refreshing them as well costs more, and isn't asked for.
    const only = options.refresh === "true" ? writtenShards(prepared) : undefined;
    await this.#refresh([...written.values()], options, deadline, only);
    return results;
  }

  /** Reads in real time. `index`: a name, or an alias of one index. Throws index_missing, index_closed, routing_missing. */
  async get(name: string, id: string, { routing }: { routing?: string }): Promise<StoredDocument | null> {
    const found = this.#options.catalog.resolve(name, {});
    const index = found[0];
    if (found.length !== 1 || index === undefined) {
      const names = found.map((each) => each.name).join(", ");
      const text = `Alias [${name}] has more than one indices associated with it [[${names}]], can't execute a single index op`;
      throw new AppError("request_invalid", text);
    }
    checkOpen(index);
    checkRouting(index, { id, routing });
    const shard = shardOf(id, routing ?? "", index.settings.numberOfShards);
    const document = await this.#options.shards.get(index, shard, id);
    return document && { ...document, index: index.name, id, ...(routing !== undefined && { routing }) };
  }

  #header(lenient: boolean) {
    const timeMs = this.#options.now();
    return { lenient, timeMs, rawIncarnation: 0, rawPartition: 0, rawSequence: 0, sources: [] };
  }

  /** Returns the batches of the index's mode, lenient or strict. */
  #batchesFor(
    index: IndexMetadata,
    batches: Map<boolean, DocBatches>,
    replies: Map<string, Reply>,
  ): DocBatches {
    const lenient = isLenient(index);
    let group = batches.get(lenient);
    if (group === undefined) {
      group = new DocBatches(this.#header(lenient), (each, shard, part) => {
        const reply = this.#inbox.open();
        replies.set(replyKey(each, shard, part, lenient), reply);
        return reply.subject;
      });
      batches.set(lenient, group);
    }
    return group;
  }

  /** Fast path: a document of a known shape for an index that an earlier item went to. */
  #prepareKnown(
    item: WriteItem,
    place: number,
    indices: ReadonlyMap<string, IndexMetadata>,
  ): Prepared | AppError | undefined {
    if (item.kind !== "index" && item.kind !== "create") return undefined;
    const index = indices.get(item.index);
    if (index === undefined || !this.#shapes.has(index, jsonShape(item.source))) return undefined;
    try {
      checkTarget(index, item);
      return { index, operation: this.#operation(item, place) };
    } catch (error) {
      return toAppError(error);
    }
  }

  #operation(item: WriteItem, place: number): tailrace.DocOperation.$Properties {
    return docOperation(item, place, () => this.#ids.next());
  }

  /** Finds the index and resolves new fields. Returns why an item can't be written. */
  async #prepare(item: WriteItem, place: number): Promise<Prepared | AppError> {
    const { catalog } = this.#options;
    try {
      const operation = this.#operation(item, place);
      let index = item.kind === "delete" ? this.#deleteTarget(item.index) : await catalog.ensure(item.index);
      checkTarget(index, item);
      for (const source of documentsOf(item)) {
        const fields = this.#shapes.missing(index, source, false);
        if (fields === null) continue;
        await catalog.putMapping(index.name, fields);
        index = catalog.get(index.name) ?? index;
      }
      return { index, operation };
    } catch (error) {
      const failure = toAppError(error);
      if (failure.retryable) throw error;
      return failure;
    }
  }

  /** A delete creates no index. */
  #deleteTarget(name: string): IndexMetadata {
    const [index] = this.#options.catalog.resolve(name, {});
    if (index === undefined) throw new AppError("index_missing", "no such index", { data: { index: name } });
    return index;
  }

  async #run(
    batches: ReadonlyMap<boolean, DocBatches>,
    replies: ReadonlyMap<string, Reply>,
    prepared: readonly (Prepared | undefined)[],
    results: WriteResult[],
    deadline: WriteDeadline,
  ): Promise<void> {
    const answers: Promise<void>[] = [];
    for (const [lenient, group] of batches) {
      for (const batch of group.take()) {
        try {
          await this.#options.log.publish(batch.subject, batch.data, {
            messageId: randomUUID(),
            wait: false,
            signal: deadline.signal,
          });
        } catch (error) {
          fill(batch, prepared, results, toAppError(error));
          continue;
        }
        const reply = replies.get(replyKey(batch.index, batch.shard, batch.part, lenient))!;
        answers.push(this.#answer(batch, reply, prepared, results, deadline));
      }
    }
    await Promise.all(answers);
  }

  async #answer(
    batch: EncodedBatch,
    reply: Reply,
    prepared: readonly (Prepared | undefined)[],
    results: WriteResult[],
    { leftMs }: WriteDeadline,
  ): Promise<void> {
    try {
      fill(batch, prepared, results, await reply.wait(leftMs));
    } catch (error) {
      fill(batch, prepared, results, toAppError(error));
    }
  }

  async #refresh(
    indices: readonly IndexMetadata[],
    options: WriteOptions,
    deadline: WriteDeadline,
    only?: ShardNumbers,
  ): Promise<void> {
    const { refresh, signal, onWritten } = options;
    if (refresh === "false") return;
    onWritten?.();
    const { shards } = this.#options;
    if (refresh === "wait_for") await shards.nextRefresh(indices, deadline.signal);
    // A request that has waited long enough for the regular refresh gets its own.
    if (refresh !== "true" && (!deadline.isOver || signal.aborted)) return;
    // Everything is written: an error would make the client write it again.
    await doneOrLate(options, () => shards.refresh(indices, only));
  }
}

/** Returns the shards that operations went to, by the uuid of their index. */
function writtenShards(prepared: readonly (Prepared | undefined)[]): Map<string, number[]> {
  const numbers = new Map<string, Set<number>>();
  for (const each of prepared) {
    if (each === undefined) continue;
    const { index, operation } = each;
    let known = numbers.get(index.uuid);
    if (known === undefined) numbers.set(index.uuid, (known = new Set()));
    known.add(shardOf(operation.id ?? "", operation.routing ?? "", index.settings.numberOfShards));
  }
  return new Map([...numbers].map(([uuid, each]) => [uuid, [...each]]));
}

function replyKey(index: IndexMetadata, shard: number, part: number, lenient: boolean): string {
  return `${index.uuid}/${shard}/${part}/${lenient}`;
}

function isLenient({ settings }: IndexMetadata): boolean {
  const setting = settings.raw["mapping.lenient"];
  return setting === true || setting === "true";
}
