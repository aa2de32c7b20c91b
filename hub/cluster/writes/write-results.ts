/** From the answer of a shard to the results of the items that a message carried. */

import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { eachResult, resultError } from "#hub/engine/operations/item-result.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { tailrace } from "#proto/messages.ts";
import type { EncodedBatch } from "./doc-batches.ts";
import type { WriteResult, WriteSuccess } from "./writes.ts";

/** An item with its index, ready for the log. */
export interface Prepared {
  readonly index: IndexMetadata;
  readonly operation: tailrace.DocOperation.$Properties;
}

/** Writes what became of a message's operations to their places in `results`. */
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
