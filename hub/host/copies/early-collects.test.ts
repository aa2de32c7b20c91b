import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import type { HubThread, SearchCall, TargetIndex } from "#hub/host/contract/calls.ts";
import type { Found } from "#hub/host/contract/found.ts";
import type { HostState } from "#hub/host/operations/operation.ts";
import type { SearchOperation } from "#hub/search/phases/remote-host.ts";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { SearchService } from "#hub/search/search-service.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { localShards } from "#test/support/host/local-shards.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { EarlyCollects } from "./early-collects.ts";

const SHARDS = 3;
/** Turns of the event loop in which hubs that began to search surely answer, and in which they close. */
const TURNS = 50;
const MAX_TURNS = 1_000;
const NOW_MS = Date.UTC(2026, 10, 29);
const fixture = new IndexFixture({
  mapping: { properties: { n: { type: "long" }, at: { type: "date" }, host: { type: "keyword" } } },
  docs: Array.from({ length: 30 }, (_, n) => ({ n, at: NOW_MS - n * 60_000, host: `web-${n % 4}` })),
  shards: SHARDS,
});
after(() => fixture.close());

const { name, uuid } = fixture.shards[0]!.index;
const { mapping } = fixture.shards[0]!.searcher;
const INDEX = {
  name,
  uuid,
  state: "open",
  mapping,
  aliases: {},
  settings: { numberOfShards: SHARDS },
} as IndexMetadata;
/** This hub has shard 0. */
const TARGET: TargetIndex = {
  uuid,
  typeName: "_doc",
  elsewhere: [
    { at: { hub: "b", thread: 0 }, shards: [1] },
    { at: { hub: "c", thread: 0 }, shards: [2] },
  ],
};

/** One other hub has all shards, in two threads. */
const TWO_THREADS: TargetIndex["elsewhere"] = [
  { at: { hub: "b", thread: 0 }, shards: [0, 2] },
  { at: { hub: "b", thread: 1 }, shards: [1] },
];

/** A question that went to another hub. */
interface Sent {
  readonly hub: string;
  readonly operation: string;
  readonly signal: AbortSignal;
}

/** Hub `gone` fails; without `answers` no hub answers. */
function world({ answers = true, gone = "", isServing = true } = {}) {
  const metrics = new Metrics();
  const sent: Sent[] = [];
  const asked: { readonly at: HubThread; readonly payload: Uint8Array }[] = [];
  /** Snapshots that the other hubs have open. */
  const open = { count: 0 };
  const searcherOf = (shard: number) => ({ ...fixture.shards[shard]!.searcher, close: () => undefined });
  const opened = (shard: number) => {
    open.count++;
    return { ...searcherOf(shard), close: () => void open.count-- };
  };
  const service = new SearchService({ metrics: new Metrics(), open: ({ shard }) => opened(shard) });
  const early = new EarlyCollects({
    index: (wanted) => (wanted === uuid ? INDEX : undefined),
    isServing: () => isServing,
    metrics,
    askHub: async (at, _operation, { value, parts }, signal) => {
      const { hub } = at;
      asked.push({ at, payload: parts[0]!.slice() });
      sent.push({ hub, operation: value as string, signal });
      if (!answers) return waitFor(signal);
      if (hub === gone) throw new AppError("unavailable", `hub ${hub} doesn't answer`);
      return {
        value: null,
        parts: [await service.handle(value as SearchOperation, parts[0]!.slice(), signal)],
      };
    },
  });
  const own = localShards({
    shards: { searcher: (_index, shard) => searcherOf(shard) } as HostState["shards"],
    indices: { byUuid: (wanted) => (wanted === uuid ? INDEX : undefined) },
    clock: systemClock,
    ask: async (at, operation, { value, parts = [] }, signal = new AbortController().signal) => {
      await setImmediate(); // a message between threads comes in a later turn
      return early.ask(at as HubThread, operation, { value, parts }, signal);
    },
  });
  const alone = (call: SearchCall, signal = new AbortController().signal) => own.search(call, signal);
  const search = (call: SearchCall, signal = new AbortController().signal) =>
    early.during(call, signal, () => own.search(call, signal));
  return {
    sent,
    metrics,
    asked,
    open,
    early,
    alone,
    search,
    hubs: () =>
      sent
        .map(({ hub }) => hub)
        .toSorted()
        .join(""),
  };
}

function waitFor(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (): void => reject(new AppError("cancelled", "cancelled"));
  if (signal.aborted) end();
  signal.addEventListener("abort", end);
  return promise;
}

function callOf(body: JsonObject, more: Partial<SearchCall> = {}): SearchCall {
  return {
    body,
    targets: [TARGET],
    limits: DEFAULT_LIMITS,
    typedKeys: false,
    objectTotals: false,
    useCache: true,
    nodeId: "node",
    nowMs: NOW_MS,
    ...more,
  };
}

function answerOf({ hits, aggregations, total, shards }: Found): unknown {
  const textOf = (json: typeof aggregations) => json && Buffer.from(json.bytes).toString();
  return { hits: textOf(hits), aggregations: textOf(aggregations), total, shards };
}

/** What other hubs collected stays open for it, as highlights are made of hits of the answer alone. */
const lit = { query: { term: { host: "web-1" } }, highlight: { fields: { host: {} } } };

/** Waits until the other hubs have answered, and keep what they collected in shards 1 and 2. */
async function untilKept({ open, sent }: ReturnType<typeof world>): Promise<void> {
  while (sent.length < 2 || open.count < 2) await setImmediate();
  for (let turn = 0; turn < TURNS; turn++) await setImmediate();
}

async function untilClosed({ open, sent }: ReturnType<typeof world>): Promise<void> {
  for (let turn = 0; turn < MAX_TURNS && open.count > 0; turn++) await setImmediate();
  assert.equal(open.count, 0);
  assert.equal(sent.filter(({ operation }) => operation === "close").length, 2);
}

const newest = { sort: [{ at: "desc" }], size: 12 };

describe("questions to other hubs", () => {
  for (const [what, body, more] of [
    ["a page", newest],
    ["a page after another one", { ...newest, search_after: [NOW_MS - 240_000] }],
    ["times relative to now", { ...newest, query: { range: { at: { gte: "now-10m" } } } }],
    ["highlights", lit],
    ["aggregations whose results are cached", { size: 0, aggs: { hosts: { terms: { field: "host" } } } }],
    ["an alias with a filter", newest, { targets: [{ ...TARGET, filters: [{ term: { host: "web-2" } }] }] }],
    ["an index that is gone", newest, { targets: [{ uuid: "gone", typeName: "_doc" }, TARGET] }],
    ["counted shards and typed keys", newest, { progress: "p", typedKeys: true }],
    ["shards that are named", newest, { targets: [{ ...TARGET, shards: [2, 0] }] }],
    ["shards of one other hub alone", newest, { targets: [{ ...TARGET, shards: [2] }] }],
    ["shards of one other hub's threads", newest, { targets: [{ ...TARGET, elsewhere: TWO_THREADS }] }],
  ] as const satisfies readonly (readonly [string, JsonObject, Partial<SearchCall>?])[])
    test(`are sent once for ${what}`, async () => {
      const { alone, search, sent, hubs } = world();
      const call = callOf(body, more);
      const expected = answerOf(await alone(call));
      const once = hubs();
      sent.length = 0;
      assert.deepEqual(answerOf(await search(call)), expected);
      assert.equal(hubs(), once);
      assert.notEqual(once, "");
    });

  test("are counted, and so are those that were asked", async () => {
    const { search, early, metrics } = world();
    await search(callOf(newest));
    await early.during(callOf(newest), new AbortController().signal, () => setImmediate());
    const text = await metrics.text();
    assert.match(text, /early_questions_total 4\n/);
    assert.match(text, /early_questions_taken_total 2\n/);
  });

  test("of equal searches at the same time are sent for each", async () => {
    const { search, hubs } = world();
    const [first, second] = await Promise.all([search(callOf(newest)), search(callOf(newest))]);
    assert.deepEqual(answerOf(first), answerOf(second));
    assert.equal(hubs(), "bbcc");
  });

  test("to a hub that is gone make its shards fail, and are sent once", async () => {
    const { search, hubs } = world({ gone: "c" });
    const { shards } = await search(callOf(newest));
    assert.deepEqual(
      shards.failures.map(({ shard, error }) => [shard, error.code]),
      [[2, "unavailable"]],
    );
    assert.equal(hubs(), "bc");
  });

  test("that the merging host doesn't ask are cancelled", async () => {
    const { early, sent } = world({ answers: false });
    await early.during(callOf(newest), new AbortController().signal, async () => {
      while (sent.length < 2) await setImmediate();
    });
    assert.deepEqual(
      sent.map(({ signal }) => signal.aborted),
      [true, true],
    );
  });

  test("that the merging host asks otherwise are sent again", async () => {
    const { early, alone, hubs, sent } = world();
    const { signal } = new AbortController();
    const call = callOf(newest);
    const found = await early.during({ ...call, nowMs: 0 }, signal, () => alone(call));
    assert.deepEqual(answerOf(found), answerOf(await world().alone(call)));
    assert.equal(hubs(), "bbcc");
    assert.equal(sent.filter((each) => each.signal.aborted).length, 2);
  });

  test("are cancelled with the search, whether the merging host has asked them or not", async () => {
    for (const isAsked of [true, false]) {
      const { early, search, sent } = world({ answers: false });
      const client = new AbortController();
      const run = isAsked
        ? search(callOf(newest), client.signal)
        : early.during(callOf(newest), client.signal, () => waitFor(client.signal));
      for (let turn = 0; turn < TURNS; turn++) await setImmediate(); // the merging host asks in one of them
      assert.equal(sent.length, 2);
      client.abort();
      await assert.rejects(run, { code: "cancelled" });
      assert.deepEqual(
        sent.map(({ signal }) => signal.aborted),
        [true, true],
      );
    }
  });

  for (const [when, run] of [
    ["the merging host is lost before it asks", () => Promise.reject(new AppError("unavailable", "lost"))],
    ["the merging host answers without asking", () => Promise.resolve()],
    ["the merging host is full", () => Promise.reject(new AppError("overloaded", "full"))],
  ] as const)
    test(`whose answers came are closed if ${when}`, async () => {
      const hubs = world();
      const searched = hubs.early.during(callOf(lit), new AbortController().signal, async () => {
        await untilKept(hubs);
        await run();
      });
      await searched.catch(() => undefined);
      await untilClosed(hubs);
    });

  test("whose answers came are closed if the client gives up", async () => {
    const hubs = world();
    const client = new AbortController();
    const searched = hubs.early.during(callOf(lit), client.signal, () => waitFor(client.signal));
    await untilKept(hubs);
    client.abort();
    await assert.rejects(searched, { code: "cancelled" });
    await untilClosed(hubs);
  });

  test("whose answers came are closed if the merging host asks otherwise", async () => {
    const hubs = world();
    const call = callOf(lit);
    await hubs.early.during({ ...call, nowMs: 0 }, new AbortController().signal, async () => {
      await untilKept(hubs);
      await hubs.alone(call);
    });
    await untilClosed(hubs);
  });

  test("whose answers came are closed if the merging host is lost as it asks", async () => {
    const hubs = world();
    const lost = new AbortController();
    await hubs.early.during(callOf(lit), new AbortController().signal, async () => {
      await untilKept(hubs);
      for (const { at, payload } of hubs.asked.slice(0, 2))
        void hubs.early.ask(at, "asked", { value: "collect", parts: [payload] }, lost.signal);
      lost.abort();
    });
    await untilClosed(hubs);
  });

  test("that are large are left to the merging host", async () => {
    const { early, hubs } = world();
    const call = callOf({ query: { terms: { host: Array.from({ length: 10_000 }, (_, n) => `web-${n}`) } } });
    await early.during(call, new AbortController().signal, () => setImmediate());
    assert.equal(hubs(), "");
  });

  test("to the other hubs are sent if one of them is large", async () => {
    const { early, hubs } = world();
    const large = [{ terms: { host: Array.from({ length: 10_000 }, (_, n) => `web-${n}`) } }];
    const [b, c] = TARGET.elsewhere!;
    const targets = [
      { ...TARGET, shards: [0, 1], elsewhere: [b!], filters: large },
      { ...TARGET, shards: [2], elsewhere: [c!] },
    ];
    await early.during(callOf(newest, { targets }), new AbortController().signal, () => setImmediate());
    assert.equal(hubs(), "c");
  });

  test("are left to the merging host while a thread is restarting", async () => {
    const { early, hubs } = world({ isServing: false });
    await early.during(callOf(newest), new AbortController().signal, () => setImmediate());
    assert.equal(hubs(), "");
  });

  test("for many shards are left to the merging host", async () => {
    for (const [count, expected] of [
      [100, "bc"],
      [101, ""],
    ] as const) {
      const { early, hubs } = world();
      const targets = Array<TargetIndex>(count).fill(TARGET);
      await early.during(callOf(newest, { targets }), new AbortController().signal, () => setImmediate());
      assert.equal(hubs(), expected);
    }
  });

  test("are left to the merging host where it asks for something else than the call says", async () => {
    const kinds: readonly [JsonObject, Partial<SearchCall>, string][] = [
      [{}, {}, "bc"],
      [{ collapse: { field: "host" } }, {}, ""],
      [{ suggest: {} }, {}, ""],
      [{}, { slice: { id: 0, max: 2 } }, ""],
      [{}, { targets: [{ uuid, typeName: "_doc" }] }, ""],
    ];
    for (const [body, more, expected] of kinds) {
      const { early, hubs } = world();
      await early.during(callOf(body, more), new AbortController().signal, () => setImmediate());
      assert.equal(hubs(), expected);
    }
  });
});
