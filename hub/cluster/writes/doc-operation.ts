/**
 * Converts a write of the document API to the operation in a message of DOC, and a shard's answer to the results of the
 * message's items.
 */

import { checkStreamWrite, type StreamWrite } from "#hub/cluster/catalog/data-streams.ts";
import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { eachResult, resultError } from "#hub/engine/operations/item-result.ts";
import { AppError } from "#proto/kit/errors.ts";
import { DocOperation, type tailrace } from "#proto/messages.ts";
import type { EncodedBatch } from "./doc-batches.ts";
import type { WriteItem, WriteResult, WriteSuccess } from "./writes.ts";

const { Kind, VersionType } = DocOperation;
const KINDS = { index: Kind.INDEX, create: Kind.CREATE, update: Kind.UPDATE, delete: Kind.DELETE };
const VERSION_TYPES = {
  internal: VersionType.INTERNAL,
  external: VersionType.EXTERNAL,
  external_gte: VersionType.EXTERNAL_GTE,
};

/** Returns the operation at `ordinal` of its write; `newId` makes the id of a document without one. Throws request_invalid. */
export function docOperation(
  item: WriteItem,
  ordinal: number,
  newId: () => string,
): tailrace.DocOperation.$Properties {
  checkText(item.id, "_id");
  checkText(item.routing, "routing");
  return {
    kind: KINDS[item.kind],
    ordinal,
    id: item.id ?? newId(),
    appendOnly: item.id === undefined,
    routing: item.routing ?? "",
    ...("source" in item && { source: item.source }),
    ...(item.kind === "update" && {
      upsert: item.upsert ?? new Uint8Array(),
      docAsUpsert: item.docAsUpsert,
      detectNoop: item.detectNoop,
    }),
    ...(item.version !== undefined && { hasVersion: true, version: item.version }),
    versionType: VERSION_TYPES[item.versionType ?? "internal"],
    ...(item.ifSeqNo !== undefined && { ifSeqNo: item.ifSeqNo, ifPrimaryTerm: item.ifPrimaryTerm ?? 1 }),
  };
}

/** Throws request_invalid for text that UTF-8 can't encode: a message of DOC that contains it could never be read. */
export function checkText(text: string | undefined, field: "_id" | "routing"): void {
  if (text === undefined || text.isWellFormed()) return;
  throw new AppError(
    "request_invalid",
    `[${field}] holds half a surrogate pair, which no UTF-8 can hold: [${text.toWellFormed()}]; send well-formed Unicode`,
  );
}

/** What of an index decides which writes it accepts. */
interface WriteTarget extends Pick<IndexMetadata, "name" | "uuid" | "state" | "mapping" | "dataStream"> {
  readonly settings: { readonly raw: Readonly<Record<string, unknown>> };
}

/** Throws request_invalid, routing_missing, index_closed for a write that an index doesn't accept. */
export function checkTarget(index: WriteTarget, item: StreamWrite & Routed): void {
  checkStreamWrite(index, item);
  checkRouting(index, item);
  checkOpen(index);
}

/** Throws index_closed. */
export function checkOpen({ name, uuid, state }: Pick<IndexMetadata, "name" | "uuid" | "state">): void {
  if (state === "close")
    throw new AppError("index_closed", "closed", { data: { index: name, index_uuid: uuid } });
}

/** Throws routing_missing if the mapping requires the routing that an item lacks: its shard couldn't be found again. */
export function checkRouting(
  { name, mapping, settings }: Pick<WriteTarget, "name" | "mapping" | "settings">,
  { id, routing = "" }: Routed,
): void {
  if (!mapping.settings.routingRequired || routing !== "") return;
  const named = settings.raw["mapping.type_name"];
  const type = typeof named === "string" ? named : "_doc";
  const data = { index_uuid: "_na_", index: name };
  throw new AppError("routing_missing", `routing is required for [${name}]/[${type}]/[${id ?? null}]`, {
    data,
  });
}

/** How an item finds its shard. */
interface Routed {
  readonly id?: string | undefined;
  readonly routing?: string | undefined;
}

/** Returns the JSON objects of an item whose fields must be in the mapping. */
export function documentsOf(item: WriteItem): Uint8Array[] {
  if (item.kind === "delete") return [];
  if (item.kind === "update" && item.upsert !== undefined) return [item.source, item.upsert];
  return [item.source];
}

/** An item with its index, ready for the log. */
export interface Prepared {
  readonly index: IndexMetadata;
  readonly operation: tailrace.DocOperation.$Properties;
}

/** Writes the results of a message's operations to their indexes in `results`. */
export function fill(
  batch: EncodedBatch,
  prepared: readonly (Prepared | undefined)[],
  results: WriteResult[],
  answer: tailrace.DocResult | AppError,
): void {
  const items = answer instanceof AppError ? [] : eachResult(answer.items);
  for (const [at, place] of batch.places.entries()) {
    const id = prepared[place]!.operation.id ?? "";
    const item = answer instanceof AppError ? answer : items[at];
    results[place] = resultOf(
      batch,
      id,
      item ?? new AppError("internal", "the shard answered with too few results"),
    );
  }
}

function resultOf(
  batch: EncodedBatch,
  id: string,
  item: tailrace.DocItemResult.$Properties | AppError,
): WriteResult {
  const { index, shard } = batch;
  if (item instanceof AppError) return { index: index.name, id, error: item };
  if (item.errorCode) {
    const data = { index: index.name, index_uuid: index.uuid, shard: String(shard) };
    return { index: index.name, id, error: resultError(item, data) };
  }
  const noop = item.result === "noop";
  return {
    index: index.name,
    id,
    result: item.result as WriteSuccess["result"],
    version: item.version ?? 1,
    seqNo: item.seqNo ?? 0,
    primaryTerm: item.primaryTerm ?? 1,
    copies: noop ? 0 : 1 + index.settings.numberOfReplicas,
    copiesDone: noop ? 0 : 1,
  };
}
