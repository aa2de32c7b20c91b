/**
 * The engine and the search on top of it against a naive reading of the same documents, for as long as
 * TAILRACE_FUZZ_SECONDS says: random documents, changes, merges and restarts, then random questions. TAILRACE_SEED repeats
 * a run that failed.
 */

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Analysis } from "#hub/engine/analysis/analysis.ts";
import { Mapping } from "#hub/engine/mapping/mapping.ts";
import { Random } from "#hub/engine/random.test-support.ts";
import type { Searcher } from "#hub/engine/searcher.ts";
import { Shard, type ShardOptions } from "#hub/engine/shard.ts";
import { DEFAULT_LIMITS, type SearchResponse, searchShards } from "#hub/search/search.ts";
import { parseSearchRequest } from "#hub/search/search-request.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { DocOperation, type tailrace } from "#proto/messages.ts";
import { chooseSeed } from "#test/harness/random.ts";
import { type Json, keywords, NUMBER_FIELDS, numbers, PROPERTIES, randomDocument } from "./engine-model.ts";
import { type Question, randomQuestion } from "./engine-questions.ts";

const DURATION_MS = Number(process.env["TAILRACE_FUZZ_SECONDS"] ?? 2) * 1000;
const QUESTIONS = 25;
const HOUR_MS = 3_600_000;
const MAX_HITS = 10_000;

type Documents = Map<string, Json>;

/** An index under test, and what must be in it. */
class Subject {
  readonly documents: Documents = new Map();
  readonly folder = mkdtempSync(join(tmpdir(), "tailrace-fuzz-"));
  /** Everything since the last commit: what a restart applies again. */
  #log: { readonly batch: tailrace.IDocBatch; readonly sequence: number }[] = [];
  #sequence = 0;
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
      ...(random.oneIn(4) ? { kernel: null } : {}),
    };
    this.shard = Shard.open(this.folder, this.#options);
  }

  /** Applies a message of random changes of at most `most` documents with ids below `ids`. */
  change(random: Random, most: number, ids: number): void {
    const operations = Array.from({ length: 1 + random.below(most) }, () => this.#operation(random, ids));
    this.#send({ operations, timeMs: 1, lenient: true });
  }

  #operation(random: Random, ids: number): tailrace.IDocOperation {
    const id = `d${random.below(ids)}`;
    const source = randomDocument(random);
    if (random.oneIn(8)) {
      this.documents.delete(id);
      return { kind: DocOperation.Kind.DELETE, id };
    }
    const isUpdate = random.oneIn(6);
    // An update merges objects, as `_update` does.
    this.documents.set(id, isUpdate ? merged(this.documents.get(id) ?? {}, source) : source);
    return {
      kind: isUpdate ? DocOperation.Kind.UPDATE : DocOperation.Kind.INDEX,
      id,
      source: Buffer.from(JSON.stringify(source)),
      ...(isUpdate ? { docAsUpsert: true } : {}),
    };
  }

  #send(batch: tailrace.IDocBatch): void {
    const sequence = ++this.#sequence;
    this.#log.push({ batch, sequence });
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
    for (const { batch, sequence } of this.#log) this.shard.apply(batch, { incarnation: 1, sequence });
  }

  /** Opens a copy of what was committed with a file cut or a byte changed: an error is fine, a crash isn't. */
  async damage(random: Random): Promise<void> {
    const copy = mkdtempSync(join(tmpdir(), "tailrace-fuzz-"));
    cpSync(this.folder, copy, { recursive: true });
    rmSync(join(copy, "lock"), { force: true });
    const files = readdirSync(copy).filter((name) => name !== "lock" && name !== "damaged");
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

function merged(into: Json, from: Json): Json {
  const result: Json = { ...into };
  for (const [name, value] of Object.entries(from)) {
    const old = result[name];
    result[name] = isPlain(old) && isPlain(value) ? merged(old, value) : value;
  }
  return result;
}

function isPlain(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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

async function ask(shard: Shard, body: Json): Promise<SearchResponse> {
  const searcher = shard.searcher();
  try {
    return await askSnapshot(searcher, body);
  } finally {
    searcher.close();
  }
}

async function askSnapshot(searcher: Searcher, body: Json): Promise<SearchResponse> {
  const request = parseSearchRequest({ ...body }, DEFAULT_LIMITS);
  const shards = [{ index: { name: "fuzz", uuid: "fuzz", typeName: "_doc" }, shard: 0, searcher }];
  return await searchShards(request, shards, {
    signal: new AbortController().signal,
    limits: DEFAULT_LIMITS,
  });
}

/** An old snapshot: whatever is changed, merged and written afterwards, it must answer for the documents of its time. */
class Held {
  readonly #searcher: Searcher;
  readonly #documents: Documents;

  constructor(subject: Subject) {
    subject.shard.refresh();
    this.#searcher = subject.shard.searcher();
    this.#documents = new Map(subject.documents);
  }

  async check({ query, fits }: Question): Promise<void> {
    const { hits } = await askSnapshot(this.#searcher, { query, size: MAX_HITS });
    const fitting = [...this.#documents].filter(([id, document]) => fits(document, id));
    const expected = fitting.map(([id]) => id).sort();
    assert.deepEqual(hits.map((hit) => String(hit["_id"])).sort(), expected, "hits of an old snapshot");
  }

  close(): void {
    this.#searcher.close();
  }
}

/** Asks for hits, counts, an order and aggregations, and compares each with what the documents say. */
async function check(subject: Subject, question: Question, random: Random): Promise<void> {
  const { query } = question;
  const fitting = [...subject.documents].filter(([id, document]) => question.fits(document, id));
  const all = await ask(subject.shard, { query, size: MAX_HITS });
  const found = all.hits.map((hit) => String(hit["_id"])).sort();
  assert.deepEqual(found, fitting.map(([id]) => id).sort(), "hits");
  assert.equal(all.total, fitting.length);
  const scores = all.hits.map((hit) => hit["_score"]);
  const top = await ask(subject.shard, { query, size: 7 });
  assert.equal(top.total, fitting.length);
  assert.deepEqual(
    top.hits.map((hit) => hit["_score"]),
    scores.slice(0, 7),
    "the best by score",
  );
  assert.equal((await ask(subject.shard, { query, size: 0 })).total, fitting.length, "count");
  await checkOrder(subject, query, fitting, random);
  await checkAggregations(subject, query, fitting);
}

type Fitting = readonly (readonly [string, Json])[];

async function checkOrder(subject: Subject, query: Json, fitting: Fitting, random: Random): Promise<void> {
  const field = random.pick([...NUMBER_FIELDS, "t"]);
  const isDown = random.oneIn(2);
  const size = 1 + random.below(12);
  const { hits } = await ask(subject.shard, { query, size, sort: [{ [field]: isDown ? "desc" : "asc" }] });
  const keys = fitting.map(([, document]) => {
    const own = numbers(document, field);
    return (isDown ? own.at(-1) : own[0]) ?? (isDown ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);
  });
  keys.sort((a, b) => (isDown ? b - a : a - b));
  const actual = hits.map((hit) => {
    const value = (hit["sort"] as unknown[])[0];
    if (typeof value === "number") return value;
    return isDown ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  });
  assert.deepEqual(actual, keys.slice(0, size), `by ${field} ${isDown ? "desc" : "asc"}`);
}

async function checkAggregations(subject: Subject, query: Json, fitting: Fitting): Promise<void> {
  const names = { terms: { field: "parts.name", size: 1000, order: { _key: "asc" } } };
  const { aggregations } = await ask(subject.shard, {
    query,
    size: 0,
    aggs: {
      k: {
        terms: { field: "k", size: 1000, order: { _key: "asc" } },
        aggs: { n: { stats: { field: "n" } } },
      },
      hours: { date_histogram: { field: "t", interval: "hour", min_doc_count: 1 }, aggs: { names } },
      tens: { histogram: { field: "n", interval: 10, min_doc_count: 1 } },
      n: { stats: { field: "n" } },
      none: { missing: { field: "f" } },
    },
  });
  assert.deepEqual(
    counts(aggregations, "k"),
    counted(fitting, (doc) => keywords(doc, "k")),
    "terms",
  );
  for (const bucket of buckets(aggregations, "k")) {
    const inside = fitting.filter(([, doc]) => keywords(doc, "k").includes(String(bucket["key"])));
    checkStats(bucket, inside, "stats below");
  }
  const hourOf = (doc: Json): number[] => numbers(doc, "t").map((ms) => Math.floor(ms / HOUR_MS) * HOUR_MS);
  assert.deepEqual(counts(aggregations, "hours"), counted(fitting, hourOf), "date_histogram");
  for (const bucket of buckets(aggregations, "hours")) {
    const inside = fitting.filter(([, doc]) => hourOf(doc).includes(Number(bucket["key"])));
    assert.deepEqual(
      counts(bucket, "names"),
      counted(inside, (doc) => keywords(doc, "parts.name")),
      "terms below",
    );
  }
  const tenOf = (doc: Json): number[] => numbers(doc, "n").map((value) => Math.floor(value / 10) * 10);
  assert.deepEqual(counts(aggregations, "tens"), counted(fitting, tenOf), "histogram");
  checkStats(aggregations, fitting, "stats");
  const without = fitting.filter(([, doc]) => numbers(doc, "f").length === 0).length;
  assert.equal((aggregations!["none"] as Json)["doc_count"], without, "missing");
}

function checkStats(parent: Json | undefined, documents: Fitting, what: string): void {
  const all = documents.flatMap(([, doc]) => numbers(doc, "n"));
  const stats = parent!["n"] as Json;
  assert.equal(stats["count"], all.length, what);
  const sum = all.reduce((a, b) => a + b, 0);
  assert.ok(Math.abs(Number(stats["sum"]) - sum) <= 1e-9 * (1 + Math.abs(sum)), `${what}: ${sum}`);
  assert.equal(stats["min"], all.length === 0 ? null : all.reduce((a, b) => Math.min(a, b)), what);
  assert.equal(stats["max"], all.length === 0 ? null : all.reduce((a, b) => Math.max(a, b)), what);
}

function buckets(parent: Json | undefined, name: string): Json[] {
  return (parent![name] as { readonly buckets: Json[] }).buckets;
}

function counts(parent: Json | undefined, name: string): [string, unknown][] {
  return buckets(parent, name)
    .map(({ key, doc_count: count }): [string, unknown] => [String(key), count])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Documents by key; each counts once for a key. */
function counted(
  documents: Fitting,
  keysOf: (document: Json) => readonly (string | number)[],
): [string, unknown][] {
  const counts = new Map<string, number>();
  for (const [, document] of documents) {
    for (const key of new Set(keysOf(document))) counts.set(String(key), (counts.get(String(key)) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
}

async function round(seed: number): Promise<void> {
  const random = new Random(seed);
  const subject = new Subject(random);
  // Now and then more documents than a column's block and a block of postings hold.
  const [messages, most] = random.oneIn(6) ? [8, 900] : [4 + random.below(20), 25];
  const ids = random.pick([60, 300, 6000]);
  let held: Held | undefined;
  try {
    for (let message = 0; message < messages; message++) {
      subject.change(random, most, ids);
      if (random.oneIn(6)) held ??= new Held(subject);
      if (random.oneIn(3)) subject.shard.refresh();
      if (random.oneIn(4)) subject.commit();
      if (random.oneIn(5)) await subject.merge(random);
      await held?.check(randomQuestion(random)).catch((error: unknown) => {
        throw new Error(`TAILRACE_SEED=${seed}`, { cause: error });
      });
      if (!random.oneIn(9)) continue;
      held?.close();
      held = undefined;
      subject.reopen();
    }
    if (random.oneIn(3)) await subject.damage(random);
    subject.shard.refresh();
    for (let asked = 0; asked < QUESTIONS; asked++) {
      const question = randomQuestion(random);
      await check(subject, question, random).catch((error: unknown) => {
        throw new Error(`TAILRACE_SEED=${seed}: ${JSON.stringify(question.query)}`, { cause: error });
      });
    }
  } finally {
    held?.close();
    subject.end();
  }
}

test("random documents, changes and questions: the engine finds what a naive reading finds", async (context) => {
  const first = chooseSeed();
  const end = Date.now() + DURATION_MS;
  let rounds = 0;
  for (let seed = first; rounds === 0 || Date.now() < end; seed++, rounds++) await round(seed);
  context.diagnostic(`${rounds} rounds from seed ${first}`);
});
