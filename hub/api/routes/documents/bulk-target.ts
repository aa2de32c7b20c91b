/** Decides, without their documents, whether the documents of a large `_bulk` body may go to their index in one run. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { aliasFault, writeFault, writeIndex } from "#hub/api/context/index-blocks.ts";
import { passesPipelines } from "#hub/api/context/ingest-documents.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { checkTarget } from "#hub/cluster/writes/doc-operation.ts";
import type { BulkItem } from "./bulk-parser.ts";

/**
 * Returns false if `Documents.append` would return null for all documents like `item`: then lending their body would only
 * take time. True promises nothing.
 */
export function mayAppend(
  { indices, cluster }: Pick<ApiContext, "indices" | "cluster">,
  item: BulkItem,
): boolean {
  const { index: name, requiresAlias } = item;
  if (requiresAlias && aliasFault(indices, name) !== undefined) return false;
  if (passesPipelines(indices, name, undefined)) return false;
  const index = writeIndex(indices, name);
  if (writeFault(cluster, name, index) !== undefined) return false;
  return index === undefined || accepts(index, item);
}

function accepts(index: IndexInfo, { index: name, id, kind }: BulkItem): boolean {
  // Each document with nested objects is inspected. Without ids that is done in a run, once the body is back.
  if (id !== undefined && index.mapping.nested.paths.length > 0) return false;
  try {
    checkTarget(index, { index: name, kind });
    return true;
  } catch {
    return false;
  }
}
