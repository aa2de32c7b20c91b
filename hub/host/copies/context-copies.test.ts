import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ShardsClient } from "#hub/host/client/shards-client.ts";
import type { NamedShard, PointCall } from "#hub/host/contract/calls.ts";
import { allFailed } from "#hub/search/phases/contract.ts";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { ContextCopies } from "./context-copies.ts";
import type { CopiesBehind } from "./copy-age.ts";

const { signal } = new AbortController();
const CALL: PointCall = { id: "p", targets: [{ uuid: "u", typeName: "_doc" }] };

const CONTEXT = {
  ...CALL,
  body: {},
  limits: DEFAULT_LIMITS,
  typedKeys: false,
  maxSlices: 1,
  objectTotals: false,
  useCache: false,
  nodeId: "",
};
/** An empty page without failures, as a thread answers it. */
const PAGE = {
  value: { shards: { total: 2, successful: 2, failures: [] }, aggregations: -1, suggest: -1, hitCount: 0 },
  parts: [Buffer.from("[]")],
};

/** Hub "a" is here and has shard 0; `others` have both. Those of `silent` keep no snapshots. */
function world(
  others: readonly string[],
  silent: readonly string[],
  behind?: CopiesBehind,
  late: readonly string[] = [],
) {
  const asked: string[] = [];
  const lost = (call: PointCall): NamedShard[] =>
    call.targets
      .flatMap(({ uuid, elsewhere = [] }) => elsewhere.map(({ at, shards }) => ({ uuid, at, shards })))
      .filter(({ at }) => !others.includes(at.hub) || silent.includes(at.hub))
      .flatMap(({ uuid, shards }) => shards.map((shard) => ({ uuid, shard })));
  const host = (hub: string) => ({
    call: (operation: string, value: unknown) => {
      const call = value as PointCall;
      const away = call.targets.flatMap(({ elsewhere = [] }) =>
        elsewhere.map(({ at, shards }) => `${at.hub}:${shards.join()}`),
      );
      asked.push(`${operation} ${away.join(" ")}`);
      const failed = lost(call);
      const error = new AppError("unavailable", "it didn't answer");
      const failures = failed.map(({ uuid, shard }) => ({ index: "i", indexUuid: uuid, shard, error }));
      if (operation === "openDocuments" && failures.length > 0) return Promise.reject(allFailed(failures));
      if (operation === "openContext") return Promise.resolve(PAGE);
      return Promise.resolve({ value: failed, parts: [] });
    },
    notify: (operation: string, value: unknown) => void asked.push(`${hub} ${operation} ${String(value)}`),
  });
  const shards = new ContextCopies({
    own: new ShardsClient(host("a")),
    holders: {
      node: "a",
      isAlone: others.length === 0,
      isHere: (_uuid, shard) => shard === 0,
      elsewhere: () => others.map((id) => ({ id, threads: 1, load: 0 })),
    },
    thread: ({ hub }) => host(hub),
    shards: () => 2,
    nameOf: () => "i",
    behind: () => behind,
    othersBehind: (hub) => (late.includes(hub) ? new AppError("unavailable", `${hub} is behind`) : undefined),
    clock: new StillClock(),
  });
  return { asked, shards };
}

describe("a point in time over copies", () => {
  test("is opened at another copy where a hub keeps no snapshot", async () => {
    const { asked, shards } = world(["b", "c"], ["b"]);
    const { targets, failed } = await shards.openPoint(CALL, signal);
    assert.deepEqual(failed, []);
    assert.deepEqual(targets[0]!.elsewhere, [{ at: { hub: "c", thread: 0 }, shards: [1] }]);
    assert.deepEqual(asked, ["openPoint b:1", "a closeContexts p", "b closeContexts p", "openPoint c:1"]);
    shards.closeContexts(["p"]);
    assert.deepEqual(asked.slice(-2), ["a closeContexts p", "c closeContexts p"]);
  });

  test("names the shards that no copy keeps, once all were tried", async () => {
    const { asked, shards } = world(["b", "c"], ["b", "c"]);
    const { failed } = await shards.openPoint(CALL, signal);
    assert.deepEqual(failed, [{ uuid: "u", shard: 1 }]);
    assert.deepEqual(
      asked.filter((each) => each.startsWith("openPoint")),
      ["openPoint b:1", "openPoint c:1"],
    );
  });

  test("is asked for once where nothing fails", async () => {
    const { asked, shards } = world(["b", "c"], []);
    await shards.openPoint(CALL, signal);
    assert.deepEqual(asked, ["openPoint b:1"]);
  });
});

test("documents to change are read at another copy where a hub keeps no snapshot, or are refused", async () => {
  const { asked, shards } = world(["b", "c"], ["b", "c"]);
  await assert.rejects(shards.openDocuments(CONTEXT, signal), { code: "unavailable" });
  assert.deepEqual(
    asked.filter((each) => each.startsWith("openDocuments")),
    ["openDocuments b:1", "openDocuments c:1"],
  );
});

test("a scroll names the shards of this hub where its copies may lack something", async () => {
  const error = new AppError("unavailable", "behind");
  const { shards } = world(["b"], [], { error, othersAnswer: true });
  const { shards: counts } = await shards.openContext(CONTEXT, signal);
  const failures = [{ index: "i", indexUuid: "u", shard: 0, error }];
  assert.deepEqual(counts, { total: 2, successful: 1, failures });
  assert.equal((await world(["b"], []).shards.openContext(CONTEXT, signal)).shards.failures.length, 0);
});

test("a scroll names the shards of another hub that is behind", async () => {
  const { shards } = world(["b"], [], undefined, ["b"]);
  const { failures } = (await shards.openContext(CONTEXT, signal)).shards;
  assert.deepEqual(
    failures.map(({ shard, error: { message } }) => `${shard} ${message}`),
    ["1 b is behind"],
  );
});

test("a hub that is cut off opens no scroll or point of no indices: there may be some that it doesn't know of", async () => {
  const error = new AppError("unavailable", "behind");
  const none = { ...CONTEXT, targets: [] };
  const { asked, shards } = world([], [], { error, othersAnswer: false });
  await assert.rejects(shards.openContext(none, signal), error);
  await assert.rejects(shards.openPoint(none, signal), error);
  await assert.rejects(shards.openDocuments(none, signal), error);
  assert.deepEqual(asked, []);
  await world(["b"], [], { error, othersAnswer: true }).shards.openPoint(none, signal);
});
