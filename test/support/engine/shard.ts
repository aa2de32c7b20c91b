/** Shards in temporary folders for tests. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Analysis } from "#hub/engine/analysis/analysis.ts";
import { Mapping } from "#hub/engine/mapping/mapping.ts";
import { eachResult } from "#hub/engine/operations/item-result.ts";
import { NO_MORE_DOCS, type Searcher } from "#hub/engine/searcher/searcher.ts";
import { Shard } from "#hub/engine/shard.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { DocOperation, type tailrace } from "#proto/messages.ts";

export const { INDEX, CREATE, UPDATE, DELETE } = DocOperation.Kind;

/** A mapping with a field of each kind. */
export function testMapping(): Mapping {
  const properties = {
    message: { type: "text", fields: { keyword: { type: "keyword", ignore_above: 256 } } },
    n: { type: "long" },
    d: { type: "double" },
    f: { type: "float" },
    t: { type: "date" },
    b: { type: "boolean" },
    k: { type: "keyword" },
    ip: { type: "ip" },
    g: { type: "geo_point" },
    c: { type: "completion", fields: { short: { type: "completion", max_input_length: 2 } } },
    hidden: { type: "keyword", index: false },
    o: { properties: { x: { type: "long" } } },
  };
  return Mapping.parse({ properties }, { index: "test", analysis: new Analysis() });
}

/** Gives `use` a folder that is removed afterwards. */
export async function withFolder(use: (folder: string) => void | Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-engine-"));
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function openShard(folder: string, mapping = testMapping(), bufferDocs = 100_000): Shard {
  return Shard.open(folder, { index: "test", mapping, log: silentLogger(), bufferDocs });
}

/** An operation; `source` as an object or as JSON text. */
export function operation(
  kind: tailrace.DocOperation.Kind,
  id: string,
  source: unknown = {},
  more: tailrace.IDocOperation = {},
): tailrace.IDocOperation {
  const text = typeof source === "string" ? source : JSON.stringify(source);
  return { kind, id, source: kind === DELETE ? new Uint8Array(0) : Buffer.from(text), ...more };
}

/** Applies operations as one message of the document API with the given sequence; returns a result for each. */
export function apply(shard: Shard, sequence: number, ...operations: tailrace.IDocOperation[]) {
  const results = shard.apply({ operations, timeMs: sequence }, { incarnation: 1, sequence });
  return results === null ? null : eachResult(results);
}

/** Ids and sources of all live documents of a searcher, which is closed. */
export function contents(searcher: Searcher): Map<string, string> {
  const found = new Map<string, string>();
  for (const segment of searcher.segments) {
    for (let doc = 0; doc < segment.docCount; doc++) {
      if (!segment.isLive(doc)) continue;
      const id = segment.id(doc);
      if (found.has(id)) throw new Error(`${id} is there twice`);
      found.set(id, Buffer.from(segment.source(doc)).toString());
    }
  }
  searcher.close();
  return found;
}

/** Ids of the live documents with a term; the searcher stays open. */
export function idsWith(searcher: Searcher, field: string, term: string): string[] {
  const ids: string[] = [];
  for (const segment of searcher.segments) {
    const cursor = segment.postings(field, term);
    if (cursor === null) continue;
    for (let doc = cursor.next(); doc !== NO_MORE_DOCS; doc = cursor.next()) {
      if (segment.isLive(doc)) ids.push(segment.id(doc));
    }
  }
  return ids.sort();
}
