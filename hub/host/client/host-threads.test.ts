import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { cpSync, existsSync } from "node:fs";
import { getPriority } from "node:os";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import type { ShardFailure } from "#hub/search/phases/contract.ts";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import type { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { niceOfThreads } from "#test/harness/processes.ts";
import { until } from "#test/harness/until.ts";
import { MemoryLog, options, put, temporaryFolder } from "#test/support/cluster/shard-feeding.ts";
import { openThreadNode, type ThreadNode } from "#test/support/host/thread-node.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";

const { signal } = new AbortController();
const FORM = { typedKeys: false, objectTotals: false, useCache: false, nodeId: "" };
const DOCS = 40;
const DEFINITION = { settings: { number_of_shards: 5 }, mappings: {}, aliases: {} };

function callOf({ catalog }: ThreadNode, body: JsonObject) {
  return { targets: [{ uuid: catalog.get("a")!.uuid, typeName: "_doc" }], body, limits: DEFAULT_LIMITS };
}

/** Returns the answer without the time it took. */
async function search(node: ThreadNode, body: JsonObject) {
  const found = await node.shards.search({ ...FORM, ...callOf(node, body) }, signal);
  const { total, maxScore, shards, hitCount } = found;
  const [hits, aggregations] = [found.hits.parse(), found.aggregations?.parse()];
  return { total, maxScore, hitCount, hits, aggregations, suggest: found.suggest?.parse(), shards };
}

/** Opens an index `a` of five shards in so many threads. */
async function open(t: TestContext, count: number, log = new MemoryLog()): Promise<ThreadNode> {
  const node = await openThreadNode(t, log, temporaryFolder(t), new MemoryBucket(), count);
  await node.catalog.create("a", DEFINITION);
  return node;
}

async function fill(node: ThreadNode): Promise<void> {
  const docs = Array.from({ length: DOCS }, (_, n) =>
    put(String(n), { n, word: `word${n % 7}`, text: n % 2 === 0 ? "even red" : "odd" }),
  );
  const written = await node.documents.write(docs, options);
  assert.ok(written.every((each) => "version" in each && each.version === 1));
}

const BODIES: readonly JsonObject[] = [
  { sort: ["n"], size: 15, from: 5 },
  { query: { match: { text: "red" } }, size: 3 },
  { size: 0, aggs: { words: { terms: { field: "word.keyword" }, aggs: { n: { avg: { field: "n" } } } } } },
  { collapse: { field: "word.keyword", inner_hits: { name: "all", size: 2, sort: ["n"] } }, sort: ["n"] },
  { suggest: { fix: { text: "wrod1", term: { field: "word" } } }, size: 1, sort: ["n"] },
  { query: { match_all: {} }, terminate_after: 1, size: 0 },
  { sort: [{ word: { order: "asc", missing: "_last" } }], query: { term: { n: 3 } }, size: 1 },
];

suite("an index in two threads", () => {
  test("the threads have a lower priority than this one, which answers requests", {
    skip: process.platform !== "linux" && "only Linux has a priority for each thread",
  }, async (t) => {
    const lowered = (): number =>
      [...niceOfThreads(process.pid).values()].filter((nice) => nice > getPriority()).length;
    assert.equal(lowered(), 0);
    await open(t, 2);
    assert.equal(lowered(), 2);
  });

  test("a refresh of some shards reaches the threads that have them", async (t) => {
    const node = await open(t, 2);
    await fill(node);
    const index = node.catalog.get("a")!;
    await node.catalog.putSettings("a", { refresh_interval: "-1" });
    await node.shards.refresh([index]);
    const all = (): Promise<{ total: unknown }> => search(node, {});
    const before = (await all()).total;
    const more = Array.from({ length: DOCS }, (_, at) => put(`more-${at}`, {}));
    await node.documents.write(more, { ...options, refresh: "false" });
    assert.deepEqual((await all()).total, before);
    await node.shards.refresh([index], new Map([[index.uuid, [0, 1]]]));
    const some = (await all()).total;
    await node.shards.refresh([index]);
    assert.equal(new Set([before, some, (await all()).total].map((total) => JSON.stringify(total))).size, 3);
  });

  test("searches, counts and documents are those of one thread", async (t) => {
    const log = new MemoryLog();
    const two = await open(t, 2, log);
    await fill(two);
    // A second hub over the same log, with one thread.
    const one = await openThreadNode(t, log, temporaryFolder(t), two.bucket, 1);
    await one.hosts.hosts[0]!.call("reach", { incarnation: 1, sequence: log.messages.length });
    await one.shards.refresh([one.catalog.get("a")!]);
    for (const body of BODIES) {
      const [found, wanted] = await Promise.allSettled([search(two, body), search(one, body)]);
      assert.deepEqual(plain(found), plain(wanted), JSON.stringify(body));
    }
    for (const more of [{}, { minScore: 0.1 }, { terminateAfter: 2 }]) {
      const call = { ...callOf(two, { query: { match: { text: "odd" } } }), ...more };
      assert.deepEqual(await two.shards.count(call, signal), await one.shards.count(call, signal));
    }
    for (const id of ["0", "17", "none"])
      assert.deepEqual(
        (await two.documents.get("a", id, {}))?.version,
        (await one.documents.get("a", id, {}))?.version,
      );
    const index = [two.catalog.get("a")!];
    const [stats] = [...(await two.shards.stats(index)).values()];
    assert.deepEqual(
      stats?.map(({ shard, docs }) => [shard, docs]),
      [...(await one.shards.stats(index)).values()][0]?.map(({ shard, docs }) => [shard, docs]),
    );
    assert.deepEqual(
      await two.shards.segments(index).then((all) => all.map(({ shard }) => shard)),
      [0, 1, 2, 3, 4],
    );
    assert.deepEqual([...(await two.shards.largest(index, "n")).values()], [DOCS - 1]);
  });

  for (const slices of [undefined, 2, 8]) {
    test(`${slices === undefined ? "a scroll reads" : `${slices} slices read`} all documents once, whatever is written meanwhile`, async (t) => {
      const node = await open(t, 2);
      await fill(node);
      const seen: string[] = [];
      for (let part = 0; part < (slices ?? 1); part++) {
        const id = randomUUID();
        const slice = slices === undefined ? {} : { slice: { id: part, max: slices } };
        const call = { ...FORM, ...callOf(node, { size: 7, sort: ["n"] }), ...slice, id, maxSlices: 8 };
        let page = await node.shards.openContext(call, signal);
        await node.documents.write([put(`late${part}`, { n: 1 })], options);
        for (
          ;
          page.hitCount > 0;
          page = await node.shards.nextPage({ ...FORM, id, limits: DEFAULT_LIMITS }, signal)
        )
          seen.push(...(page.hits.parse() as { _id: string }[]).map(({ _id }) => _id));
        node.shards.closeContexts([id]);
        await assert.rejects(node.shards.nextPage({ ...FORM, id, limits: DEFAULT_LIMITS }, signal), {
          code: "not_found",
        });
      }
      const first = seen.filter((id) => !id.startsWith("late"));
      assert.equal(first.length, DOCS);
      assert.equal(new Set(first).size, DOCS);
    });
  }

  test("shards that a search has collected are counted in both, until the count is ended", async (t) => {
    const node = await open(t, 2);
    await fill(node);
    const call = { ...FORM, ...callOf(node, { size: 1 }), progress: "name" };
    assert.equal((await node.shards.search(call, signal)).shards.successful, 5);
    assert.equal(await node.shards.progress("name"), 5);
    node.shards.closeContexts(["name"]);
    assert.equal(await node.shards.progress("name"), 0);
  });

  test("a point in time shows what there was in both, until it is closed", async (t) => {
    const node = await open(t, 2);
    await fill(node);
    const id = randomUUID();
    const { targets: wanted } = callOf(node, {});
    const { targets, failed } = await node.shards.openPoint({ id, targets: wanted }, signal);
    assert.deepEqual(failed, []);
    await node.documents.write([put("late", { n: 1 }), put("0", { n: 100 })], options);
    await node.shards.refresh([node.catalog.get("a")!]);
    const read = async (slice?: object, max = 2): Promise<string[]> => {
      const seen: string[] = [];
      let after: unknown;
      for (;;) {
        const body = { size: 7, sort: ["_shard_doc"], ...(after !== undefined && { search_after: after }) };
        const call = { ...FORM, ...callOf(node, body), targets, point: id, maxSlices: max, slice };
        const hits = (await node.shards.search(call, signal)).hits.parse() as {
          _id: string;
          sort: unknown;
        }[];
        if (hits.length === 0) return seen;
        seen.push(...hits.map(({ _id }) => _id));
        after = hits.at(-1)!.sort;
      }
    };
    const whole = await read();
    assert.deepEqual([whole.length, new Set(whole).size, whole.includes("late")], [DOCS, DOCS, false]);
    const parts = [...(await read({ id: 0, max: 2 })), ...(await read({ id: 1, max: 2 }))];
    assert.deepEqual(parts.toSorted(), whole.toSorted());
    node.shards.closeContexts([id]);
    await assert.rejects(read(), { code: "not_found" });
    assert.equal((await search(node, { size: 0 })).total, DOCS + 1);
  });

  test("a search while one thread is lost has the documents of the other, and says which shards failed", async (t) => {
    const node = await open(t, 2);
    await fill(node);
    const [lost, other] = node.hosts.hosts;
    const wait = new AbortController();
    const spinning = lost!.call("spin", null, { signal: wait.signal });
    const searching = search(node, { size: 0 });
    wait.abort();
    await assert.rejects(spinning, { code: "unavailable" });
    const { total, shards } = await searching;
    assert.equal(other!.failure, "");
    assert.equal(shards.total, 5);
    // It may be back before the search is repeated.
    if (shards.failures.length > 0) {
      assert.ok(total! < DOCS && total! > 0);
      assert.ok(shards.failures.every(({ error }) => error.code === "unavailable"));
    } else assert.equal(total, DOCS);
    assert.equal(
      (await node.documents.write([put("new", { n: 5 })], { ...options, timeoutMs: 30_000 })).length,
      1,
    );
    // A search waits for two seconds only for a thread that is started again.
    await until("all documents", async () => (await search(node, { size: 0 })).total === DOCS + 1);
  });

  test("commits of both are there after a restart with another number of threads, and what came since", async (t) => {
    const [log, folder, bucket] = [new MemoryLog(), temporaryFolder(t), new MemoryBucket()];
    let written = 0;
    for (const count of [2, 1, 3]) {
      const node = await openThreadNode(t, log, folder, bucket, count);
      if (written === 0) await node.catalog.create("a", DEFINITION);
      const docs = Array.from({ length: 10 }, (_, n) => put(String(written + n), { n }));
      written += docs.length;
      await node.documents.write(docs, options);
      const { total, shards } = await search(node, { size: 0 });
      assert.deepEqual([total, shards.successful], [written, 5]);
      await node.stop();
    }
  });

  test("a shard that goes fails alone in searches planned before, and is whole again when it has come", async (t) => {
    const [log, folder, staged] = [new MemoryLog(), temporaryFolder(t), temporaryFolder(t)];
    const node = await openThreadNode(t, log, folder, new MemoryBucket(), 2);
    await node.catalog.create("a", DEFINITION);
    await fill(node);
    await node.shards.flush([]);
    const { uuid } = node.catalog.get("a")!;
    const files = join(staged, "0");
    const isFile = (path: string): boolean => !path.endsWith(".lock");
    cpSync(join(folder, uuid, "0"), files, { recursive: true, filter: isFile });
    const from = { incarnation: 1, sequence: log.messages.length };
    await node.documents.write([put("late", { n: 1 }), put("0", { n: 1 })], options);
    await node.hosts.drop(uuid, 0);
    assert.equal(node.hosts.hasShard(uuid, 0), false);
    const failures = await search(node, { size: 0 }).then(
      ({ shards }) => shards.failures,
      (error: AppError) => error.data["failures"] as ShardFailure[],
    );
    assert.deepEqual(
      failures.map(({ shard, error }) => [shard, error.code]),
      [[0, "unavailable"]],
    );
    const end = { incarnation: 1, sequence: log.messages.length };
    await node.hosts.take({ uuid, shard: 0, from, files }, { end, timeoutMs: 30_000, signal });
    assert.equal(node.hosts.hasShard(uuid, 0), true);
    assert.equal((await node.hosts.holdings(signal)).filter(({ isWhole }) => isWhole).length, 5);
    await node.shards.refresh([node.catalog.get("a")!]);
    assert.equal((await search(node, { size: 0 })).total, DOCS + 1);
  });

  test("an index that is deleted leaves no folder", async (t) => {
    const folder = temporaryFolder(t);
    const node = await openThreadNode(t, new MemoryLog(), folder, new MemoryBucket(), 2);
    await node.catalog.create("a", DEFINITION);
    await fill(node);
    const { uuid } = node.catalog.get("a")!;
    await node.catalog.delete(["a"]);
    await node.shards.flush([]);
    assert.ok(!existsSync(join(folder, uuid)));
  });
});

/** A settled answer; an error by what is said of it. */
function plain(settled: PromiseSettledResult<unknown>): unknown {
  if (settled.status === "fulfilled") return settled.value;
  const { code, message } = settled.reason as { code: string; message: string };
  return { code, message };
}
