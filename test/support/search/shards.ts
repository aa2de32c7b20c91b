/** Real shards with documents, for tests of queries and aggregations. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Analysis } from "#hub/engine/analysis/analysis.ts";
import { Mapping } from "#hub/engine/mapping/mapping.ts";
import { Shard } from "#hub/engine/shard.ts";
import { writeJson } from "#hub/search/options/json-writer.ts";
import type { SearchOptions, SearchResponse, SearchShard } from "#hub/search/phases/contract.ts";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { searchShards } from "#hub/search/search.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { DocOperation, type tailrace } from "#proto/messages.ts";
import { asRead, assertSameOverHosts } from "./hosts.ts";

export interface FixtureOptions {
  /** Mapping below the type; fields that aren't named are mapped dynamically. */
  readonly mapping?: JsonObject;
  /** Documents by id, or a list whose ids are "0", "1" … */
  readonly docs: Readonly<Record<string, JsonObject | string>> | readonly (JsonObject | string)[];
  /** Documents after which a segment begins; default: all in one. */
  readonly segmentDocs?: number;
  /** Ids deleted in the end. */
  readonly deleted?: readonly string[];
  readonly shards?: number;
  readonly index?: string;
  /** Settings of the index's analysis. */
  readonly analysis?: JsonObject;
}

/** What is read of a printed answer. */
type Read = Pick<SearchResponse, "hits" | "aggregations">;

/** As many as a message of the log that is not small. */
const MESSAGE_OPERATIONS = 500;

/** Folders of fixtures that no test closed; they are removed with the process. */
const folders = new Set<string>();
process.once("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** An index in a temporary folder; documents go to its shards in turn. */
export class IndexFixture {
  readonly shards: readonly SearchShard[];
  readonly #folder = mkdtempSync(join(tmpdir(), "tailrace-search-"));
  readonly #opened: Shard[] = [];
  readonly #waiting = new Map<Shard, tailrace.IDocOperation[]>();
  #sequence = 0;

  constructor(options: FixtureOptions) {
    folders.add(this.#folder);
    const count = options.shards ?? 1;
    const index = options.index ?? "logs";
    let mapping = Mapping.parse(options.mapping ?? {}, { index, analysis: new Analysis(options.analysis) });
    for (let shard = 0; shard < count; shard++) {
      this.#opened.push(
        Shard.open(join(this.#folder, String(shard)), { index, mapping, log: silentLogger() }),
      );
    }
    Object.entries(options.docs).forEach(([id, doc], at) => {
      const source = Buffer.from(typeof doc === "string" ? doc : JSON.stringify(doc));
      const update = mapping.dynamicUpdate(source);
      if (update !== null) {
        this.#apply();
        mapping = mapping.merge(update);
        for (const shard of this.#opened) shard.setMapping(mapping);
      }
      const shard = this.#opened[at % count]!;
      this.#put(shard, { kind: DocOperation.Kind.INDEX, id, source });
      if (options.segmentDocs === undefined || (at + 1) % options.segmentDocs !== 0) return;
      this.#apply();
      shard.refresh();
    });
    for (const id of options.deleted ?? []) {
      for (const shard of this.#opened) this.#put(shard, { kind: DocOperation.Kind.DELETE, id });
    }
    this.#apply();
    for (const shard of this.#opened) shard.refresh();
    this.shards = this.#opened.map((shard, number) => ({
      index: { name: index, uuid: `uuid-${index}`, typeName: "_doc" },
      shard: number,
      searcher: shard.searcher(),
    }));
  }

  /** Searches all shards and reads hits and aggregations as a client does. The answer is the same where they are spread over hosts, unless `options` can't be sent. */
  async search(body: JsonObject, options: Partial<SearchOptions> = {}): Promise<SearchResponse> {
    const all = {
      signal: new AbortController().signal,
      limits: DEFAULT_LIMITS,
      nowMs: Date.now(),
      ...options,
    };
    const search = (async () => searchShards(parseSearchRequest(body, all.limits), this.shards, all))();
    const { cache, clock, signal } = options;
    if (cache === undefined && clock === undefined && signal === undefined)
      await assertSameOverHosts(this.shards, body, all, search);
    const { hits, aggregations, ...answer } = await search;
    return { ...answer, ...(asRead({ hits, aggregations }) as Read) };
  }

  /** The hits and aggregations of a search as an answer prints them. */
  async printed(body: JsonObject): Promise<string> {
    const options = { signal: new AbortController().signal, limits: DEFAULT_LIMITS, nowMs: Date.now() };
    const { hits, aggregations } = await searchShards(
      parseSearchRequest(body, DEFAULT_LIMITS),
      this.shards,
      options,
    );
    return writeJson({ hits, aggregations });
  }

  /** Ids of the hits, in their order. */
  async ids(body: JsonObject): Promise<string[]> {
    const { hits } = await this.search({ size: 100, ...body });
    return hits.map((hit) => String(hit["_id"]));
  }

  close(): void {
    for (const { searcher } of this.shards) searcher.close();
    for (const shard of this.#opened) shard.close();
    rmSync(this.#folder, { recursive: true, force: true });
    folders.delete(this.#folder);
  }

  /** Records an operation; those of a shard that follow one another are one message of the log. */
  #put(shard: Shard, operation: tailrace.IDocOperation): void {
    const operations = this.#waiting.get(shard) ?? [];
    this.#waiting.set(shard, operations);
    operations.push(operation);
    if (operations.length === MESSAGE_OPERATIONS) this.#apply();
  }

  #apply(): void {
    for (const [shard, operations] of this.#waiting) {
      const results = shard.apply({ operations }, { incarnation: 1, sequence: ++this.#sequence });
      const failed = results?.find(({ errorReason }) => errorReason);
      if (failed) throw new Error(failed.errorReason!, { cause: failed.causeReason });
    }
    this.#waiting.clear();
  }
}
