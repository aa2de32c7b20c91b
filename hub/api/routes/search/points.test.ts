import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { PointContexts } from "#hub/api/context/point-contexts.ts";
import { allSearchRoutes } from "#hub/api/routes/search/all.ts";
import type { NamedShard, OpenedPoint, PointCall } from "#hub/host/contract/calls.ts";
import type { HostedShards } from "#hub/host/contract/hosted-shards.ts";
import { ForwardedShards } from "#hub/host/copies/forwarded-shards.ts";
import { AppError } from "#proto/kit/errors.ts";
import { type Json, SearchRoutesFixture } from "#test/support/api/search-routes.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";

const docs = Array.from({ length: 23 }, (_, n) => ({
  message: `line ${n}`,
  status: 200 + (n % 3),
  host: "web",
}));
const fixture = new SearchRoutesFixture({ docs });
after(() => fixture.close());

const list = (json: Json): Json[] => Array.from(json as unknown as Json[]);
const text = (json: Json): string => json as unknown as string;

async function open(): Promise<string> {
  return text((await fixture.send("POST", "/logs/_pit?keep_alive=1m", undefined, "8.17.0")).body["id"]!);
}

/** Reads all documents page by page, each from where the last one ended. */
async function walk(id: string, body: object, version = "8.17.0"): Promise<string[]> {
  const seen: string[] = [];
  let after: Json | undefined;
  for (;;) {
    const page = {
      size: 5,
      ...body,
      pit: { id, keep_alive: "1m" },
      ...(after !== undefined && { search_after: after }),
    };
    const { status, body: answer } = await fixture.send("POST", "/_search", page, version);
    assert.equal(status, 200, JSON.stringify(answer));
    assert.equal(answer["pit_id"], id);
    const hits = list(answer["hits"]!["hits"]!);
    if (hits.length === 0) return seen;
    seen.push(...hits.map((hit) => text(hit["_id"]!)));
    after = hits.at(-1)!["sort"]!;
  }
}

describe("a point in time", () => {
  for (const [name, sort] of [
    ["an order with equal values", [{ status: "desc" }]],
    ["its own order", "_shard_doc"],
    ["its own order backwards", [{ _shard_doc: "desc" }]],
    ["the score", ["_score"]],
  ] as const)
    test(`is read whole by ${name}, each document once`, async () => {
      const seen = await walk(await open(), { sort });
      assert.deepEqual([seen.length, new Set(seen).size], [docs.length, docs.length]);
    });

  test("is read whole in slices", async () => {
    const id = await open();
    for (const max of [2, 7]) {
      const parts = await Promise.all(
        Array.from({ length: max }, (_, part) =>
          walk(id, { sort: ["_shard_doc"], slice: { id: part, max } }),
        ),
      );
      const seen = parts.flat();
      assert.deepEqual([seen.length, new Set(seen).size], [docs.length, docs.length]);
    }
  });

  test("has a last key from 7.12 on, unless search_after has no value for it", async () => {
    const pit = { id: await open() };
    const keys = async (version: string, more: object = {}): Promise<number> => {
      const { body } = await fixture.send(
        "POST",
        "/_search",
        { pit, sort: ["status"], size: 1, ...more },
        version,
      );
      return body["hits"]!["hits"]![0]!["sort"]!.length;
    };
    assert.deepEqual([await keys("7.10.2"), await keys("7.17.0"), await keys("8.17.0")], [1, 2, 2]);
    assert.equal(await keys("8.17.0", { search_after: [200] }), 1);
  });

  test("is searched by _msearch, too", async () => {
    const id = await open();
    const lines = [{}, { pit: { id }, size: 0 }, { index: "logs" }, { size: 0 }];
    const { body } = await fixture.send(
      "POST",
      "/_msearch",
      lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    );
    assert.deepEqual(
      list(body["responses"]!).map((each) => [each["pit_id"], each["hits"]!["total"]]),
      [
        [id, docs.length],
        [undefined, docs.length],
      ],
    );
  });

  test("is refused in _msearch beside an index, a routing or a preference", async () => {
    const id = await open();
    const headers = [{ index: "logs" }, { routing: "x" }, { preference: "_local" }];
    const lines = headers.flatMap((header) => [header, { pit: { id } }]);
    const send = (path: string, sent: readonly object[]) =>
      fixture.send("POST", path, sent.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const { body } = await send("/_msearch", lines);
    assert.deepEqual(
      list(body["responses"]!).map((each) => each["status"]),
      [400, 400, 400],
    );
    const named = await send("/logs/_msearch", [{}, { pit: { id } }]);
    assert.deepEqual(
      list(named.body["responses"]!).map((each) => each["status"]),
      [400],
    );
  });

  test("isn't opened by parameters that can't be read", async () => {
    for (const parameter of [
      "allow_partial_search_results=banana",
      "max_concurrent_shard_requests=-3",
      "max_concurrent_shard_requests=many",
    ]) {
      const { status } = await fixture.send("POST", `/logs/_pit?keep_alive=1m&${parameter}`);
      assert.equal(status, 400, parameter);
    }
  });

  test("that was closed is missing, and closing it again frees none", async () => {
    const id = await open();
    const closed = await fixture.send("DELETE", "/_pit", { id });
    assert.deepEqual([closed.status, closed.body], [200, { succeeded: true, num_freed: 1 }]);
    const again = await fixture.send("DELETE", "/_pit", { id });
    assert.deepEqual([again.status, again.body], [404, { succeeded: true, num_freed: 0 }]);
    const { status, body } = await fixture.send("POST", "/_search", { pit: { id } });
    assert.equal(status, 404);
    assert.equal(body["error"]!["root_cause"]![0]!["type"], "search_context_missing_exception");
  });

  test("can be opened, listed and closed as OpenSearch does", async () => {
    await fixture.send("DELETE", "/_search/point_in_time/_all");
    const opened = await fixture.send("POST", "/logs/_search/point_in_time?keep_alive=2m");
    const id = text(opened.body["pit_id"]!);
    assert.deepEqual(opened.body["_shards"], { total: 2, successful: 2, skipped: 0, failed: 0 });
    const listed = await fixture.send("GET", "/_search/point_in_time/_all");
    assert.deepEqual(listed.body["pits"], [
      { pit_id: id, creation_time: opened.body["creation_time"], keep_alive: 120_000 },
    ]);
    const closed = await fixture.send("DELETE", "/_search/point_in_time", { pit_id: [id] });
    assert.deepEqual(closed.body["pits"], [{ successful: true, pit_id: id }]);
    await fixture.send("POST", "/logs/_search/point_in_time?keep_alive=2m");
    const all = await fixture.send("DELETE", "/_search/point_in_time/_all");
    assert.equal(all.body["pits"]!.length, 1);
  });

  for (const [name, uri, body, reason] of [
    ["an index", "/logs/_search", {}, /\[indices\] cannot be used with point in time/],
    ["a preference", "/_search?preference=_local", {}, /\[preference\] cannot be used with point in time/],
    ["a scroll", "/_search?scroll=1m", {}, /not allowed in a scroll context/],
    [
      "too long a time",
      "/_search",
      { keep_alive: "30d" },
      /Keep alive for point in time \(30d\) is too large/,
    ],
    ["a little too long a time", "/_search", { keep_alive: "25h" }, /\(25h\).*less than \(1d\)/],
  ] as const)
    test(`isn't searched with ${name}`, async () => {
      const { status, body: answer } = await fixture.send("POST", uri, {
        pit: { id: await open(), ...body },
      });
      assert.equal(status, 400);
      assert.match(JSON.stringify(answer), reason);
    });

  for (const after of ["x", null, 1.5])
    test(`isn't continued after ${JSON.stringify(after)}, which isn't a place of a document`, async () => {
      const request = { pit: { id: await open() }, sort: ["_shard_doc"], search_after: [after] };
      const { status, body } = await fixture.send("POST", "/_search", request);
      assert.equal(status, 400);
      assert.match(JSON.stringify(body), /search_after value for field \[_shard_doc\]/);
    });

  test("needs a time to be kept, and its order a point in time", async () => {
    assert.equal((await fixture.send("POST", "/logs/_pit")).status, 400);
    const { status, body } = await fixture.send("POST", "/logs/_search", { sort: ["_shard_doc"] });
    assert.equal(status, 400);
    assert.match(JSON.stringify(body), /cannot be used without \[point in time\]/);
  });
});

describe("a point in time of which a hub keeps no snapshot", () => {
  /** Shards of which a hub keeps no snapshots. */
  class Lacking extends ForwardedShards {
    readonly #failed: readonly NamedShard[];

    constructor(all: HostedShards, failed: readonly NamedShard[]) {
      super(all);
      this.#failed = failed;
    }

    override async openPoint(call: PointCall, signal: AbortSignal): Promise<OpenedPoint> {
      return { ...(await super.openPoint(call, signal)), failed: this.#failed };
    }
  }

  const lacking = (shards: readonly number[]): SearchRoutesFixture =>
    new SearchRoutesFixture({
      routes: (parts, scrolls) => {
        const { uuid } = parts.indices.get("logs")!;
        const failed = shards.map((shard) => ({ uuid, shard }));
        const lack = new Lacking(parts.shards as HostedShards, failed) as unknown as ApiContext["shards"];
        return allSearchRoutes({ ...parts, shards: lack }, scrolls);
      },
    });

  for (const [name, shards, path, version, wanted] of [
    ["is refused by the route of version 8", [1], "_pit?keep_alive=1m", "8.17.0", 503],
    [
      "is partial there where that is allowed",
      [1],
      "_pit?keep_alive=1m&allow_partial_search_results=true",
      "8.17.0",
      1,
    ],
    ["is partial as OpenSearch has it", [0], "_search/point_in_time?keep_alive=1m", "6.5.4", 1],
    [
      "is refused there where that isn't allowed",
      [0],
      "_search/point_in_time?keep_alive=1m&allow_partial_pit_creation=false",
      "6.5.4",
      503,
    ],
    ["is refused where no shard is left", [0, 1], "_search/point_in_time?keep_alive=1m", "6.5.4", 503],
  ] as const)
    test(name, async (t) => {
      const partial = lacking(shards);
      t.after(() => partial.close());
      const { status, body } = await partial.send("POST", `/logs/${path}`, undefined, version);
      if (wanted === 503) {
        assert.deepEqual([status, partial.points.size], [503, 0]);
        assert.match(JSON.stringify(body), /answer/);
      } else {
        const whole = { total: 2, successful: 2 - wanted, skipped: 0, failed: wanted };
        assert.deepEqual(body["_shards"], whole as unknown as Json);
      }
    });
});

describe("points in time", () => {
  const view = { targets: [], names: [], maxSlices: 1, shards: { total: 0, failed: 0 } };
  const minute = { ms: 60_000, limitMs: 3_600_000 };
  const opened = (points: PointContexts, owner: string, closed: string[] = []) =>
    points.open({ closeContexts: (ids) => void closed.push(...ids) }, owner, minute, () =>
      Promise.resolve(view),
    );
  const code = (wanted: string) => (error: unknown) => error instanceof AppError && error.code === wanted;

  test("are their makers': others neither search, see nor close them", async () => {
    const points = new PointContexts({ nodes: () => [] }, new StillClock());
    const { id } = await opened(points, "user ann");
    await assert.rejects(
      points.during(id, "user bob", undefined, () => Promise.resolve(1)),
      code("not_found"),
    );
    assert.deepEqual([points.close([id], "user bob"), points.list("user bob")], [[], []]);
    assert.equal(await points.during(id, "user ann", undefined, () => Promise.resolve(1)), 1);
    points.stop();
  });

  test("beyond the limit are refused, and those that are over make way", async () => {
    const [clock, closed] = [new StillClock(), [] as string[]];
    const points = new PointContexts({ nodes: () => [] }, clock);
    for (let count = 0; count < 500; count++) await opened(points, `user ${count}`, closed);
    await assert.rejects(opened(points, "user ann"), code("overloaded"));
    await clock.advance(60_000);
    await opened(points, "user ann");
    assert.deepEqual([closed.length, points.size], [500, 1]);
    points.stop();
  });

  test("have the time that was asked for from the end of a search on, however long it took", async () => {
    const [clock, closed] = [new StillClock(), [] as string[]];
    const points = new PointContexts({ nodes: () => [] }, clock);
    const { id } = await opened(points, "user ann", closed);
    await points.during(id, "user ann", minute, () => clock.advance(90_000));
    await clock.advance(59_000);
    await opened(points, "user bob"); // closes those whose time is over
    assert.deepEqual(closed, []);
    await clock.advance(1_000);
    await opened(points, "user bob");
    assert.deepEqual(closed, [id]);
    points.stop();
  });

  test("that are to be kept for no time open, as there, and are closed at the next sweep", async () => {
    const points = new PointContexts({ nodes: () => [] }, new StillClock());
    const shards = { closeContexts: () => undefined };
    const open = () => points.open(shards, "user ann", { ...minute, ms: 0 }, () => Promise.resolve(view));
    const { id } = await open();
    assert.equal(await points.during(id, "user ann", undefined, () => Promise.resolve(1)), 1);
    await open();
    assert.deepEqual([points.list("user ann").some((point) => point.id === id), points.size], [false, 1]);
    points.stop();
  });

  test("of one owner leave some for the others", async () => {
    const points = new PointContexts({ nodes: () => [] }, new StillClock());
    for (let count = 0; count < 250; count++) await opened(points, "user ann");
    await assert.rejects(opened(points, "user ann"), { code: "overloaded", data: { retryAfterSeconds: 1 } });
    const { id } = await opened(points, "user bob");
    points.close([id]);
    points.close(points.list("user ann").map((point) => point.id));
    await opened(points, "user ann");
    assert.equal(points.refused, 1);
    points.stop();
  });

  test("stay open where a search of them finds something else missing", async () => {
    const points = new PointContexts({ nodes: () => [] }, new StillClock());
    const { id } = await opened(points, "user ann");
    const search = (data: Record<string, unknown>) =>
      points.during(id, "user ann", undefined, () =>
        Promise.reject(new AppError("not_found", "unable to find script [x]", { data })),
      );
    await assert.rejects(search({}), /unable to find script/);
    assert.equal(points.size, 1);
    await assert.rejects(search({ type: "search_context_missing_exception" }), /all shards failed/);
    assert.equal(points.size, 0);
  });

  test("that can't be opened leave nothing", async () => {
    const closed: string[] = [];
    const points = new PointContexts({ nodes: () => [] }, new StillClock());
    const shards = { closeContexts: (ids: readonly string[]) => void closed.push(...ids) };
    const failing = points.open(shards, "user ann", minute, () =>
      Promise.reject(new AppError("overloaded", "full")),
    );
    await assert.rejects(failing, code("overloaded"));
    assert.deepEqual([closed.length, points.size], [1, 0]);
  });
});
