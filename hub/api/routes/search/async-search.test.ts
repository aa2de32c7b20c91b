import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { AsyncSearches, type AsyncWork } from "#hub/api/context/async-searches.ts";
import { Tasks } from "#hub/api/context/tasks.ts";
import { RawJson } from "#hub/search/options/json-writer.ts";
import { AppError } from "#proto/kit/errors.ts";
import { DOCS, type Json, SearchRoutesFixture } from "#test/support/api/search-routes.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { asyncSearchRoutes } from "./async-search.ts";

const EIGHT = "8.17.0";
const idOf = (body: Json): string => body["id"] as unknown as string;
const fixture = new SearchRoutesFixture();
/** The search of this one waits for `go`. */
let go = Promise.withResolvers<void>();
const waiting = new SearchRoutesFixture({
  routes: (parts) => {
    const { shards } = parts;
    const held: typeof shards = Object.create(shards) as typeof shards;
    held.check = (call) => shards.check(call);
    held.closeContexts = (ids) => shards.closeContexts(ids);
    held.progress = () => Promise.resolve(1);
    held.search = async (call, signal) => {
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => reject(new AppError("cancelled", "by user request")));
      await Promise.race([go.promise, promise]);
      return shards.search(call, signal);
    };
    return asyncSearchRoutes({ ...parts, shards: held });
  },
});
after(() => {
  fixture.close();
  waiting.close();
});

describe("a search in the background", () => {
  test("that ends soon is answered without an id", async () => {
    // A second, the default, isn't a limit that a machine under load must keep.
    const uri = "/logs/_async_search?wait_for_completion_timeout=1m";
    const { status, body } = await fixture.send("POST", uri, { size: 1 }, EIGHT);
    assert.equal(status, 200);
    assert.deepEqual([body["id"], body["is_running"], body["is_partial"]], [undefined, false, false]);
    assert.deepEqual(body["response"]!["hits"]!["total"], { value: DOCS.length, relation: "eq" });
    assert.equal(fixture.asyncSearches.size, 0);
  });

  test("keeps its answer where that is wanted, until it is deleted", async () => {
    const uri = "/logs/_async_search?keep_on_completion=true&keep_alive=1m";
    const { body } = await fixture.send(
      "POST",
      uri,
      { size: 0, aggs: { a: { max: { field: "status" } } } },
      EIGHT,
    );
    const path = `/_async_search/${idOf(body)}`;
    const found = await fixture.send("GET", path, undefined, EIGHT);
    assert.deepEqual(found.body["response"]!["aggregations"], { a: { value: 500 } });
    assert.equal(Number(body["expiration_time_in_millis"]) - Number(body["start_time_in_millis"]), 60_000);
    const { body: how } = await fixture.send("GET", path.replace("/_async_search", "/_async_search/status"));
    assert.deepEqual(how["_shards"], { total: 2, successful: 2, skipped: 0, failed: 0 });
    assert.deepEqual([how["is_running"], how["completion_status"], how["response"]], [false, 200, undefined]);
    assert.deepEqual((await fixture.send("DELETE", path)).body, { acknowledged: true });
    const gone = await fixture.send("GET", path);
    assert.deepEqual([gone.status, gone.body["error"]!["type"]], [404, "resource_not_found_exception"]);
  });

  test("that runs says how far it is, and is answered when it has ended", async () => {
    go = Promise.withResolvers();
    const uri = "/logs/_async_search?wait_for_completion_timeout=0ms";
    const { body } = await waiting.send("POST", uri, { query: { match_all: {} } }, EIGHT);
    assert.deepEqual([body["is_running"], body["is_partial"]], [true, true]);
    assert.deepEqual(body["response"]!["_shards"], { total: 2, successful: 1, skipped: 0, failed: 0 });
    assert.deepEqual(body["response"]!["hits"]!["total"], { value: 0, relation: "gte" });
    const [task] = waiting.tasks.running();
    assert.equal(task!.work.action, "indices:data/read/async_search/submit");
    const asked = waiting.send(
      "GET",
      `/_async_search/${idOf(body)}?wait_for_completion_timeout=1m`,
      undefined,
      EIGHT,
    );
    go.resolve();
    const { body: done } = await asked;
    assert.deepEqual([done["is_running"], done["is_partial"]], [false, false]);
    assert.equal(done["response"]!["hits"]!["hits"]!.length, DOCS.length);
  });

  test("ends with its task, and says so", async () => {
    go = Promise.withResolvers();
    const { body } = await waiting.send("POST", "/logs/_async_search?wait_for_completion_timeout=0ms", {});
    const [task] = waiting.tasks.running();
    waiting.tasks.cancel(task!.id);
    await task!.ended;
    const found = await waiting.send("GET", `/_async_search/${idOf(body)}`, undefined, EIGHT);
    assert.equal(found.body["error"]!["type"], "task_cancelled_exception");
    assert.deepEqual([found.body["is_running"], found.body["is_partial"]], [false, true]);
  });

  test("whose shards fail has the status of their error", async () => {
    const { status, body } = await fixture.send(
      "POST",
      "/logs/_async_search?wait_for_completion_timeout=1m",
      { sort: ["x"] },
      EIGHT,
    );
    assert.deepEqual([status, body["is_running"], body["is_partial"]], [400, false, true]);
    assert.equal(body["error"]!["type"], "search_phase_execution_exception");
    assert.deepEqual(body["response"]!["_shards"], { total: 2, successful: 0, skipped: 0, failed: 2 });
  });

  for (const [name, uri, body, status] of [
    ["an unknown query", "/logs/_async_search", { query: { foo: {} } }, 400],
    ["a missing index", "/none/_async_search", {}, 404],
    ["too short a time", "/logs/_async_search?keep_alive=1ms", {}, 400],
    ["a scroll", "/logs/_async_search?scroll=1m", {}, 400],
  ] as const)
    test(`isn't begun with ${name}`, async () => {
      const { status: got, body: answer } = await fixture.send("POST", uri, body);
      assert.deepEqual([got, answer["response"], answer["id"]], [status, undefined, undefined]);
    });

  test("has the states of OpenSearch on its path", async () => {
    const uri = "/_plugins/_asynchronous_search?index=logs&keep_on_completion=true";
    const { body } = await fixture.send("POST", uri, { size: 1 });
    assert.equal(body["state"], "STORE_RESIDENT");
    assert.equal(body["response"]!["hits"]!["total"], DOCS.length);
    const path = `/_plugins/_asynchronous_search/${idOf(body)}`;
    assert.equal((await fixture.send("GET", path)).body["response"]!["hits"]!["hits"]!.length, 1);
    assert.deepEqual((await fixture.send("DELETE", path)).body, { acknowledged: true });
    const short = await fixture.send("POST", "/_plugins/_asynchronous_search?index=logs", {});
    assert.deepEqual([short.body["state"], short.body["id"]], ["SUCCEEDED", undefined]);
  });

  test("reads a point in time", async () => {
    const { body: point } = await fixture.send("POST", "/logs/_pit?keep_alive=1m");
    const { body } = await fixture.send("POST", "/_async_search", { pit: { id: point["id"] } }, EIGHT);
    assert.equal(body["response"]!["pit_id"], point["id"]);
    assert.equal(body["response"]!["hits"]!["hits"]!.length, DOCS.length);
  });
});

describe("searches in the background", () => {
  const open = (clock = new StillClock()) => {
    const tasks = new Tasks(clock, 1);
    return { clock, tasks, searches: new AsyncSearches(tasks, { nodes: () => [] }, clock) };
  };
  /** Work whose answer has so many bytes. */
  const work = (bytes: number, owner = "user ann"): AsyncWork => ({
    owner,
    description: "",
    headers: {},
    keepAliveMs: 60_000,
    names: [],
    shards: 1,
    typedKeys: false,
    run: () => {
      const response = {
        hits: new RawJson(Buffer.alloc(bytes)),
        aggregations: undefined,
        suggest: undefined,
      };
      return Promise.resolve({ response, isCountOnly: false } as unknown as Awaited<
        ReturnType<AsyncWork["run"]>
      >);
    },
    done: () => Promise.resolve(0),
    forget: () => undefined,
  });
  const code = (wanted: string) => (error: unknown) => error instanceof AppError && error.code === wanted;

  test("are their makers'", async () => {
    const { searches } = open();
    const search = searches.submit(work(1));
    assert.throws(() => searches.get(search.id, "user bob"), code("not_found"));
    assert.equal(searches.get(search.id, "user ann"), search);
    await search.task.ended;
    searches.stop();
  });

  test("expire, and are prolonged", async () => {
    const { searches, clock } = open();
    const [one, other] = [searches.submit(work(1)), searches.submit(work(1))];
    searches.get(other.id, "user ann", 120_000);
    await clock.advance(60_000);
    assert.throws(() => searches.get(one.id, "user ann"), code("not_found"));
    assert.equal(searches.get(other.id, "user ann"), other);
    searches.stop();
  });

  test("of one owner leave some for the others", async () => {
    const { searches } = open();
    for (let count = 0; count < 500; count++) await searches.submit(work(1)).task.ended;
    assert.throws(() => searches.submit(work(1)), { code: "overloaded", data: { retryAfterSeconds: 1 } });
    await searches.submit(work(1, "user bob")).task.ended;
    assert.equal(searches.refused, 1);
    searches.stop();
  });

  test("that may not begin take no share", async () => {
    const { searches, tasks } = open();
    const endless = {
      ...work(1),
      run: (signal: AbortSignal) =>
        new Promise<never>((_, fail) => {
          signal.throwIfAborted();
          signal.addEventListener("abort", () => fail(signal.reason as Error));
        }),
    };
    for (let count = 0; count < 20; count++) searches.submit(endless);
    for (let count = 0; count < 500; count++)
      assert.throws(() => searches.submit(endless), code("overloaded"));
    await tasks.stop();
    for (let count = 0; count < 480; count++) await searches.submit(work(1)).task.ended;
    searches.stop();
  });

  test("are bounded in the bytes of an answer and of all, and in number", async () => {
    const { searches, tasks } = open();
    const run = async (bytes: number, owner?: string) => {
      const search = searches.submit(work(bytes, owner));
      await search.task.ended;
      searches.keep(search);
      return search;
    };
    const large = await run(10 * 2 ** 20 + 1);
    assert.match(large.error!.message, /Can't store an async search response larger than \[10485760\] bytes/);
    assert.equal(large.found, undefined);
    const largest = 10 * 2 ** 20;
    for (let count = 0; count < 3; count++) assert.equal((await run(largest)).error, undefined);
    assert.equal((await run(largest)).error?.code, "overloaded");
    for (let count = 0; count < 3; count++)
      assert.equal((await run(largest, `user ${count}`)).error, undefined);
    assert.equal((await run(largest, "user bob")).error?.code, "overloaded");
    while (searches.size < 1_000) await run(1, `other ${searches.size}`);
    assert.throws(() => searches.submit(work(1, "user cid")), code("overloaded"));
    searches.stop();
    assert.deepEqual([searches.size, searches.bytes, tasks.running()], [0, 0, []]);
  });
});
