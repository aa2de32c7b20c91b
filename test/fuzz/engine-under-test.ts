/** An index under test: what is done to it, and what must be in it. */

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeAppends } from "#hub/cluster/writes/append-encoder.ts";
import { Analysis } from "#hub/engine/analysis/analysis.ts";
import { Mapping } from "#hub/engine/mapping/mapping.ts";
import { DocBatchView } from "#hub/engine/operations/doc-batch-view.ts";
import type { Searcher } from "#hub/engine/searcher/searcher.ts";
import { Shard, type ShardOptions } from "#hub/engine/shard.ts";
import type { SearchResponse } from "#hub/search/phases/contract.ts";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { searchShards } from "#hub/search/search.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { DocBatch, DocOperation, type tailrace } from "#proto/messages.ts";
import { plainIndexing } from "#test/oracles/engine/plain-indexing.ts";
import type { Random } from "#test/support/engine/random.ts";
import { asRead } from "#test/support/search/hosts.ts";
import { type Json, PROPERTIES, randomDocument } from "./engine-model.ts";
import { randomQuestion } from "./engine-queries.ts";

export type Documents = Map<string, Json>;

/** A message as objects, or as the bytes of one with columns. */
type Message = tailrace.IDocBatch | Uint8Array;

/** Digits of the ids of appended documents, which have one length. */
const APPENDED_DIGITS = 6;

/** An index under test, and what must be in it. */
export class Subject {
  readonly documents: Documents = new Map();
  /** Text of each document that was indexed, not updated. */
  readonly texts = new Map<string, string>();
  readonly folder = mkdtempSync(join(tmpdir(), "tailrace-fuzz-"));
  /** Everything since the last commit: what a restart applies again. */
  #log: { readonly message: Message; readonly sequence: number }[] = [];
  #sequence = 0;
  /** Documents appended so far. */
  #appended = 0;
  readonly #options: ShardOptions;
  shard: Shard;

  constructor(random: Random) {
    const mapping = Mapping.parse(
      { dynamic: false, properties: PROPERTIES },
      { index: "fuzz", analysis: new Analysis() },
    );
    this.#options = {
      index: "fuzz",
      mapping,
      log: silentLogger(),
      bufferDocs: random.pick([7, 300, 100_000]),
      ...(random.oneIn(4) ? { indexing: plainIndexing } : {}),
    };
    this.shard = Shard.open(this.folder, this.#options);
  }

  /** Applies a message of random changes of at most `most` documents with ids below `ids`. */
  change(random: Random, most: number, ids: number): void {
    const operations = Array.from({ length: 1 + random.below(most) }, () => this.#operation(random, ids));
    this.#send({ operations, timeMs: 1, lenient: true });
  }

  /** Appends at most `most` new documents as columns; now and then in two messages, as two shards would get them. */
  append(random: Random, most: number): void {
    const texts = Array.from({ length: 1 + random.below(most) }, () => {
      const source = randomDocument(random);
      const text = JSON.stringify(source, null, random.oneIn(8) ? 2 : 0);
      const id = appendedId(this.#appended++);
      this.documents.set(id, source);
      this.texts.set(id, text);
      return { id, text };
    });
    const gap = random.below(3);
    const ends: number[] = [];
    let bytes = 0;
    for (const { text } of texts) ends.push((bytes += Buffer.byteLength(text) + (bytes === 0 ? 0 : gap)));
    const columns = {
      bytes: Buffer.from(texts.map(({ text }) => text).join(" ".repeat(gap))),
      start: 0,
      ends: Uint32Array.from(ends),
      gap,
      indexNames: ["fuzz"],
      ids: Buffer.from(texts.map(({ id }) => id).join("")),
    };
    const head = DocBatch.encode({ timeMs: 1, lenient: true }).finish();
    const parts = random.oneIn(3) ? 2 : 1;
    for (let part = 0; part < parts; part++) {
      const places = Uint32Array.from(texts.keys()).filter((at) => at % parts === part);
      if (places.length > 0) this.#send(encodeAppends(head, columns, parts === 1 ? undefined : places));
    }
  }

  #operation(random: Random, ids: number): tailrace.IDocOperation {
    const isAppended = this.#appended > 0 && random.oneIn(4);
    const id = isAppended ? appendedId(random.below(this.#appended)) : `d${random.below(ids)}`;
    const source = randomDocument(random);
    if (random.oneIn(8)) {
      this.documents.delete(id);
      this.texts.delete(id);
      return { kind: DocOperation.Kind.DELETE, id };
    }
    const isUpdate = random.oneIn(6);
    // An update merges objects, as `_update` does.
    this.documents.set(id, isUpdate ? merged(this.documents.get(id) ?? {}, source) : source);
    // Now and then with white space: a document is kept as the bytes it came in.
    const text = JSON.stringify(source, null, random.oneIn(8) ? 2 : 0);
    if (isUpdate) this.texts.delete(id);
    else this.texts.set(id, text);
    return {
      kind: isUpdate ? DocOperation.Kind.UPDATE : DocOperation.Kind.INDEX,
      id,
      source: Buffer.from(text),
      ...(isUpdate ? { docAsUpsert: true } : {}),
    };
  }

  #send(message: Message): void {
    const sequence = ++this.#sequence;
    this.#log.push({ message, sequence });
    this.#apply(message, sequence);
  }

  #apply(message: Message, sequence: number): void {
    const batch = message instanceof Uint8Array ? new DocBatchView(message) : message;
    this.shard.apply(batch, { incarnation: 1, sequence });
  }

  commit(): void {
    this.shard.commit();
    this.#log = [];
  }

  async merge(random: Random): Promise<void> {
    if (random.oneIn(2)) await this.shard.forceMerge(1 + random.below(3));
    else for (let steps = 20; steps > 0 && this.shard.mergeStep(); steps--);
  }

  /** Ends as a kill would: what wasn't committed is applied again. */
  reopen(): void {
    this.shard.close();
    this.shard = Shard.open(this.folder, this.#options);
    for (const { message, sequence } of this.#log) this.#apply(message, sequence);
  }

  /** Opens a copy of what was committed with a file cut or a byte changed: an error is fine, a crash isn't. */
  async damage(random: Random): Promise<void> {
    const copy = mkdtempSync(join(tmpdir(), "tailrace-fuzz-"));
    cpSync(this.folder, copy, { recursive: true });
    rmSync(join(copy, "shard.lock"), { force: true });
    const files = readdirSync(copy).filter((name) => name !== "shard.lock" && name !== "damaged");
    if (files.length > 0) spoil(join(copy, random.pick(files)), random);
    try {
      const shard = Shard.open(copy, this.#options);
      try {
        for (let round = 0; round < 5; round++) await ask(shard, { query: randomQuestion(random).query });
      } finally {
        shard.close();
      }
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  }

  end(): void {
    this.shard.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function appendedId(number: number): string {
  return `n${String(number).padStart(APPENDED_DIGITS, "0")}`;
}

function merged(into: Json, from: Json): Json {
  const result: Json = { ...into };
  for (const [name, value] of Object.entries(from)) {
    const old = result[name];
    result[name] = isPlain(old) && isPlain(value) ? merged(old, value) : value;
  }
  return result;
}

function isPlain(value: unknown): value is Json {
  return isObject(value);
}

function spoil(path: string, random: Random): void {
  const bytes = readFileSync(path);
  if (bytes.length === 0) return;
  const at = random.below(bytes.length);
  if (random.oneIn(3)) truncateSync(path, at);
  else {
    bytes[at]! ^= 1 << random.below(8);
    writeFileSync(path, bytes);
  }
}

/** Asks a shard as it is now. */
export async function ask(shard: Shard, body: Json): Promise<SearchResponse> {
  const searcher = shard.searcher();
  try {
    return await askSnapshot(searcher, body);
  } finally {
    searcher.close();
  }
}

/** Asks a snapshot; hits and aggregations are those that a client reads. */
export async function askSnapshot(searcher: Searcher, body: Json): Promise<SearchResponse> {
  const request = parseSearchRequest({ ...body }, DEFAULT_LIMITS);
  const shards = [{ index: { name: "fuzz", uuid: "fuzz", typeName: "_doc" }, shard: 0, searcher }];
  const { signal } = new AbortController();
  const options = { signal, limits: DEFAULT_LIMITS };
  const { hits, aggregations, ...answer } = await searchShards(request, shards, options);
  const read = asRead({ hits, aggregations }) as Pick<SearchResponse, "hits" | "aggregations">;
  return { ...answer, ...read };
}
