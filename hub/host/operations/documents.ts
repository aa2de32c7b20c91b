/** Reads and explains single documents of this host's shards. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type {
  DocumentFacts,
  ExplainCall,
  Explained,
  FoundTermVectors,
  TermVectorsCall,
} from "#hub/host/contract/calls.ts";
import type { NamedIndex } from "#hub/host/contract/hosted-shards.ts";
import { BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { explainQuery, printExplanation } from "#hub/search/explain/explanation.ts";
import type { SearchShard } from "#hub/search/phases/contract.ts";
import { prepareNested } from "#hub/search/phases/prepare-search.ts";
import { ShardContext } from "#hub/search/query/query.ts";
import { SearchControl } from "#hub/search/query/search-control.ts";
import { parseQueryRequest } from "#hub/search/request/search-request.ts";
import { termVectors as vectorsOf } from "#hub/search/term-vectors.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { indicesOf, NOTHING, operation } from "./operation.ts";
import { withShards } from "./target.ts";

interface GetCall {
  readonly index: NamedIndex;
  readonly shard: number;
  readonly id: string;
}

/** See HostedShards.get. */
export const get = operation<GetCall>((host, { index, shard, id }) => {
  const [known] = indicesOf(host, [index]);
  const document = known === undefined ? null : host.shards.get(known, shard, id);
  if (document === null) return NOTHING;
  const { version, seqNo, primaryTerm, source } = document;
  return { value: { version, seqNo, primaryTerm } satisfies DocumentFacts, parts: [source] };
});

/** See HostedShards.getRefreshed. */
export const getRefreshed = operation<{ readonly indices: readonly NamedIndex[]; readonly id: string }>(
  (host, { indices, id }) => {
    const opened = host.shards.searchers(indicesOf(host, indices));
    try {
      for (const { index, searcher } of opened) {
        for (const segment of searcher.segments) {
          const doc = segment.docOf(id);
          if (doc < 0 || segment.liveDocs?.has(doc) === false) continue;
          const facts = { version: segment.version(doc), seqNo: segment.seqNo(doc), primaryTerm: 1 };
          const value = { ...facts, uuid: index.uuid, routing: segment.routing(doc) };
          return { value, parts: [segment.source(doc).slice()] };
        }
      }
      return NOTHING;
    } finally {
      for (const { searcher } of opened) searcher.close();
    }
  },
);

/** See HostedShards.explain. */
export const explain = operation<ExplainCall>((host, { targets, body, id }, { signal }) => {
  const { query, nestedPaths } = parseQueryRequest(body);
  return withShards(host, targets, async (shards) => {
    const found = findDocument(shards.own, id, host.clock.now());
    if (found === undefined) return NOTHING;
    const { shard, context, segment, doc } = found;
    const { filter, filterPaths } = shard;
    const control = new SearchControl(host.clock, signal, undefined);
    await prepareNested(context, control, nestedPaths, filterPaths);
    const seen = filter === undefined ? query : new BooleanNode({ must: [query], filter: [filter] });
    const explanation = explainQuery(seen, { shard: context, segment, doc, boost: 1 });
    const value: Explained = {
      index: shard.index.name,
      matches: explanation.matches,
      explanation: printExplanation(explanation) as unknown as JsonObject,
    };
    return { value, parts: [segment.source(doc).slice()] };
  });
});

interface FoundDocument {
  readonly shard: SearchShard;
  readonly context: ShardContext;
  readonly segment: SegmentReader;
  readonly doc: number;
}

/** Finds the live document of an id as of the last refresh. */
function findDocument(shards: readonly SearchShard[], id: string, nowMs: number): FoundDocument | undefined {
  for (const shard of shards) {
    const context = new ShardContext(shard.index, shard.shard, shard.searcher, nowMs);
    for (const segment of context.searcher.segments) {
      const doc = segment.docOf(id);
      if (doc >= 0) return { shard, context, segment, doc };
    }
  }
  return undefined;
}

/** See HostedShards.termVectors. Frequencies are those of the shard that has the document, or of the first one. */
export const termVectors = operation<TermVectorsCall>((host, { targets, id, source, options }) =>
  withShards(host, targets, (shards) => {
    const has = ({ searcher }: SearchShard): boolean =>
      id !== undefined && searcher.segments.some((segment) => segment.docOf(id) >= 0);
    const at = shards.own.find(has) ?? shards.own[0];
    if (at === undefined) throw new AppError("unavailable", "no shard of the index is open");
    const context = new ShardContext(at.index, at.shard, at.searcher, host.clock.now());
    const { name, typeName } = at.index;
    const value = { index: name, typeName, termVectors: vectorsOf(context, source, options) };
    return { value: value satisfies FoundTermVectors };
  }),
);
