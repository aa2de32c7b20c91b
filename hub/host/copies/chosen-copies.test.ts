import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ShardsClient } from "#hub/host/client/shards-client.ts";
import type { CopyWish, Count, CountCall } from "#hub/host/contract/calls.ts";
import { allFailed } from "#hub/search/phases/contract.ts";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { ChosenCopies } from "./chosen-copies.ts";
import type { CopiesBehind } from "./copy-age.ts";

const SHARDS = 2;

type Run = (call: CountCall) => Count | Promise<Count>;

interface World {
  /** The merging hubs, each with what it was told to ask others for. */
  readonly asked: string[];
  readonly count: (wish?: CopyWish, signal?: AbortSignal, uuids?: readonly string[]) => Promise<Count>;
  readonly clock: StillClock;
}

/** Hub "a" is here and has all shards; `others` have them too. `runs`: what the merging thread of each hub does. */
function world(
  runs: Readonly<Record<string, Run>>,
  others: readonly string[],
  behind?: CopiesBehind,
  late: readonly string[] = [],
): World {
  const clock = new StillClock();
  const asked: string[] = [];
  const host = (hub: string) => ({
    call: (_operation: string, value: unknown) => {
      const call = value as CountCall;
      const places = call.targets.flatMap(({ elsewhere = [] }) =>
        elsewhere.map(({ at, shards }) => `${at.hub}:${shards.join()}`),
      );
      asked.push(`${hub}(${places.join(" ")})`);
      return Promise.resolve()
        .then(() => runs[hub]!(call))
        .then((value) => ({ value, parts: [] }));
    },
    notify: () => undefined,
  });
  const copies = new ChosenCopies({
    own: new ShardsClient(host("a")),
    holders: {
      node: "a",
      isAlone: others.length === 0,
      isHere: () => true,
      elsewhere: () => others.map((id) => ({ id, threads: 1, load: 0 })),
    },
    thread: ({ hub }) => host(hub),
    shards: () => SHARDS,
    nameOf: () => "i",
    behind: () => behind,
    othersBehind: (hub) => (late.includes(hub) ? new AppError("unavailable", `${hub} is behind`) : undefined),
    early: { during: (_call, _signal, search) => search() },
    clock,
    metrics: new Metrics(),
  });
  const count = (
    wish?: CopyWish,
    signal = new AbortController().signal,
    uuids: readonly string[] = ["u"],
  ): Promise<Count> =>
    copies.count(
      {
        body: {},
        limits: DEFAULT_LIMITS,
        targets: uuids.map((uuid) => ({ uuid, typeName: "_doc" })),
        ...(wish !== undefined && { copies: wish }),
      },
      signal,
    );
  return { asked, count, clock };
}

const whole = (): Count => ({ count: 9, shards: SHARDS, failures: [] });
const failing = (shard: number, code: "unavailable" | "overloaded" | "parsing" = "unavailable"): Count => ({
  count: 4,
  shards: SHARDS,
  failures: [{ index: "i", indexUuid: "u", shard, error: new AppError(code, "broken") }],
});
const lost = (): never => {
  throw new AppError("unavailable", "the thread was lost");
};

describe("searches at chosen copies", () => {
  test("a hub alone searches here, once", async () => {
    const { count, asked } = world({ a: () => failing(1) }, []);
    assert.equal((await count()).failures.length, 1);
    assert.deepEqual(asked, ["a()"]);
  });

  test("a shard that failed here is searched at another hub", async () => {
    const a: Run = ({ targets }) => (targets[0]?.elsewhere === undefined ? failing(1) : whole());
    const { count, asked } = world({ a }, ["b"]);
    assert.deepEqual(await count(), whole());
    assert.deepEqual(asked, ["a()", "a(b:1)"]);
  });

  test("a shard whose hub has too many answers to keep is searched at another hub, or has failed", async () => {
    const a: Run = ({ targets }) =>
      targets[0]?.elsewhere === undefined ? failing(1, "overloaded") : whole();
    const { count } = world({ a }, ["b"]);
    assert.deepEqual(await count(), whole());
    const alike = await world({ a: () => failing(1, "overloaded") }, ["b"]).count();
    assert.deepEqual(
      alike.failures.map(({ error }) => error.code),
      ["overloaded"],
    );
  });

  test("a shard that went to another hub meanwhile is searched there, the others stay", async () => {
    const gone = failing(1).failures;
    const a: Run = ({ targets }) => {
      if (targets[0]?.elsewhere === undefined) throw allFailed(gone);
      return whole();
    };
    const { count, asked } = world({ a }, ["b"]);
    assert.deepEqual(await count(), whole());
    assert.deepEqual(asked, ["a()", "a(b:1)"]);
  });

  test("where this hub's threads are lost, another hub merges", async () => {
    const { count, asked } = world({ a: lost, b: whole }, ["b"]);
    assert.deepEqual(await count(), whole());
    assert.deepEqual(asked, ["a()", "b(b:0,1)"]);
  });

  test("copies that may lack something are answered from, say so, and others are asked where those can know", async () => {
    const error = new AppError("unavailable", "behind");
    const a: Run = ({ targets }) => ({ ...whole(), count: targets[0]?.elsewhere === undefined ? 7 : 9 });
    const readable = world({ a }, ["b"], { error, othersAnswer: true });
    assert.deepEqual(await readable.count(), whole());
    assert.deepEqual(readable.asked, ["a()", "a(b:0,1)"]);
    const failures = [0, 1].map((shard) => ({ index: "i", indexUuid: "u", shard, error }));
    for (const others of [["b"], []]) {
      const cutOff = world({ a }, others, { error, othersAnswer: false });
      assert.deepEqual(await cutOff.count(), { count: 7, shards: SHARDS, failures });
      assert.deepEqual(cutOff.asked, ["a()"]);
    }
  });

  test("a hub that is behind itself doesn't make an answer whole: a third one is asked", async () => {
    const doubt: CopiesBehind = { error: new AppError("unavailable", "a is behind"), othersAnswer: true };
    const third = world({ a: whole }, ["b", "c"], doubt, ["b"]);
    assert.deepEqual(await third.count(), whole());
    assert.deepEqual(third.asked, ["a()", "a(b:0,1)", "a(c:0,1)"]);
    const none = world({ a: whole }, ["b"], doubt, ["b"]);
    const { failures } = await none.count();
    assert.deepEqual(
      failures.map(({ shard, error: { message } }) => `${shard} ${message}`),
      ["0 b is behind", "1 b is behind"],
    );
  });

  test("a hub that is cut off doesn't say that there are no indices", async () => {
    const error = new AppError("unavailable", "behind");
    const none = (): Count => ({ count: 0, shards: 0, failures: [] });
    const cutOff = world({ a: none }, [], { error, othersAnswer: false });
    await assert.rejects(cutOff.count(undefined, undefined, []), error);
    const readable = world({ a: none }, ["b"], { error, othersAnswer: true });
    assert.deepEqual(await readable.count(undefined, undefined, []), none());
  });

  test("a shard that failed at a hub whose copies are behind is named once", async () => {
    const error = new AppError("unavailable", "behind");
    const { count } = world({ a: () => failing(1) }, [], { error, othersAnswer: true });
    const { failures } = await count();
    assert.deepEqual(
      failures.map(({ shard, error: { message } }) => `${shard} ${message}`),
      ["1 broken", "0 behind"],
    );
  });

  test("the best partial answer counts where no copy is left", async () => {
    const { count, asked } = world({ a: () => failing(1) }, ["b"]);
    assert.deepEqual((await count()).failures.length, 1);
    assert.deepEqual(asked, ["a()", "a(b:1)"]);
  });

  test("three copies are tried, and the error is thrown then", async () => {
    const { count, asked } = world({ a: lost, b: lost, c: lost, d: whole }, ["b", "c", "d"]);
    await assert.rejects(count(), { code: "unavailable" });
    assert.equal(asked.length, 3);
  });

  test("what any copy would say of the request isn't asked for again", async () => {
    const refuse = (): never => {
      throw new AppError("parsing", "bad query");
    };
    const refused = world({ a: refuse, b: whole }, ["b"]);
    await assert.rejects(refused.count(), { code: "parsing" });
    const partial = world({ a: () => failing(0, "parsing") }, ["b"]);
    assert.equal((await partial.count()).failures.length, 1);
    assert.deepEqual([refused.asked, partial.asked], [["a()"], ["a()"]]);
  });

  test("a search that its caller gave up isn't repeated", async () => {
    const abort = new AbortController();
    const { count, asked } = world(
      {
        a: () => {
          abort.abort();
          return lost();
        },
        b: whole,
      },
      ["b"],
    );
    await assert.rejects(count(undefined, abort.signal), { code: "unavailable" });
    assert.equal(asked.length, 1);
  });

  test("a search whose thread was lost after long work isn't given to another hub", async () => {
    const made: World = world({ a: () => made.clock.advance(25_000).then(lost), b: whole }, ["b"]);
    await assert.rejects(made.count(), { code: "unavailable" });
    assert.deepEqual(made.asked, ["a()"]);
  });

  test("the hubs that a request names search, and no others", async () => {
    const { count, asked } = world({ a: whole }, ["b", "c"]);
    await count({ only: ["c"] });
    assert.deepEqual(asked, ["a(c:0,1)"]);
  });
});
