import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { compileTailQuery } from "#hub/api/routes/loki/tail-query.ts";
import type { CompileLogTail } from "#hub/live/log-tail.ts";
import type { RunCall } from "#hub/live/run-call.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { LiveLimits } from "#proto/live.ts";
import { Client, events, numbered, startHub, TailReader, VIEWER } from "#test/support/live/live-harness.ts";

const compile: CompileLogTail = (query, signal) => compileTailQuery(query, signal, systemClock);
const KEY = { ...VIEWER, byCookie: false };
const STREAM = { host: "web", filename: "/a.log", level: "error" };

async function tailHub(limits: Partial<LiveLimits> = {}, run?: RunCall, settle?: () => Promise<void>) {
  const hub = await startHub(limits, KEY, run, compile, settle);
  const tail = (query: string, params: Record<string, string> = {}) =>
    new TailReader(`${hub.logTailUrl}?${new URLSearchParams({ query, ...params }).toString()}`);
  return { live: hub.live, url: hub.url, tail };
}

test("lines that a query keeps are sent by stream, as its stages leave them", async () => {
  const { live, tail } = await tailHub();
  const reader = tail('{host="web", service!="cart"} |= "blue" | json | line_format "{{.n}} blue"');
  await reader.opened;
  assert.equal(live.listening, true);
  live.offer([
    ...events(['{"n":1,"text":"blue"}', '{"n":2,"text":"red"}']),
    ...events(['{"n":3,"text":"blue"}'], "logs-1", { service: "cart" }),
    ...events(['{"n":4,"text":"blue"}'], "secret-1"),
    ...events(['{"n":5,"text":"blue"}'], "logs-1", { labels: { job: "shop" } }),
  ]);
  const { streams } = await reader.next();
  assert.deepEqual(
    streams.map(({ stream, values }) => [stream["job"], stream["n"], values]),
    [
      [undefined, "1", [["1000000000", "1 blue"]]],
      ["shop", "5", [["1000000000", "5 blue"]]],
    ],
  );
  assert.deepEqual({ ...STREAM, ...streams[0]!.stream }, { ...streams[0]!.stream, ...STREAM });
});

test("older lines come first, and one that passes meanwhile comes once", async () => {
  const asked: string[] = [];
  const answered = Promise.withResolvers<void>();
  const run: RunCall = async ({ path }) => {
    asked.push(path);
    await answered.promise;
    const values = [
      ["1001000000", "b"],
      ["1000000000", "a"],
    ];
    return { status: 200, body: JSON.stringify({ data: { result: [{ stream: STREAM, values }] } }) };
  };
  const { live, tail } = await tailHub({}, run);
  const reader = tail('{host="web"}', { limit: "7", start: "5" });
  await reader.opened;
  live.offer(events(["a", "b", "c"]));
  answered.resolve();
  assert.deepEqual((await reader.next()).streams[0]!.values, [
    ["1000000000", "a"],
    ["1001000000", "b"],
  ]);
  assert.deepEqual((await reader.next()).streams[0]!.values, [["1002000000", "c"]]);
  assert.match(asked[0]!, /^\/es\/loki\/api\/v1\/query_range\?query=%7Bhost%3D%22web%22%7D&limit=7&start=5$/);
});

test("older lines are read once searches find what passed before the tail", async () => {
  const steps: string[] = [];
  const run: RunCall = () => {
    steps.push("read");
    return Promise.resolve({ status: 200, body: JSON.stringify({ data: { result: [] } }) });
  };
  const { live, tail } = await tailHub({}, run, () => {
    steps.push(`settle, listening ${live.listening}`);
    return Promise.resolve();
  });
  const reader = tail('{host="web"}');
  await reader.opened;
  live.offer(events(["a"]));
  assert.deepEqual((await reader.next()).streams[0]!.values, [["1000000000", "a"]]);
  assert.deepEqual(steps, ["settle, listening true", "read"]);
});

test("each value of an array is one that selectors and filters of labels compare", async () => {
  const fields = { tags: ["blue", "red"], sizes: [3, 70], user: [{ name: "ann" }, { name: "bob" }] };
  const rows: [query: string, kept: boolean][] = [
    ['{tags="red"}', true],
    ['{host="web", tags!="red"}', false],
    ['{tags=~"r.*"}', true],
    ['{host="web", tags!~"g.*", user_name="bob"}', true],
    ['{host="web", tags=""}', false],
    ['{host="web", none=""}', true],
    ['{host="web"} | tags="blue" | sizes > 60', true],
    ['{host="web"} | tags!="blue"', false],
    ['{host="web"} | sizes > 70', false],
  ];
  const document = { index: "logs-1", source: { host: { name: "web" }, message: "a", ...fields } };
  for (const [query, kept] of rows) {
    const { selects, line } = compileTailQuery(query, AbortSignal.timeout(60_000), systemClock);
    assert.equal(selects(document) && (await line(document)) !== undefined, kept, query);
  }
  const format = compileTailQuery(
    '{host="web"} | line_format "{{.tags}}"',
    AbortSignal.timeout(60_000),
    systemClock,
  );
  assert.equal((await format.line(document))?.line, "blue,red");
});

test("lines beyond the rate, or beyond what waits, are left out and named", async () => {
  for (const limits of [{ defaultRate: 3 }, { ringRows: 3 }]) {
    const { live, tail } = await tailHub(limits);
    const reader = tail('{host="web"}');
    await reader.opened;
    live.offer(events(numbered(0, 10)));
    const { streams, dropped_entries: dropped } = await reader.next();
    assert.equal(streams[0]!.values.length, 3);
    assert.equal(dropped.length, 7);
    assert.deepEqual(dropped[0]!.labels, STREAM);
  }
});

test("a query that can't be tailed is refused before the upgrade", async () => {
  const { tail } = await tailHub({ tailsPerHub: 1 });
  for (const [query, status, params] of [
    ["", 400, {}],
    ['{host="web"', 400, {}],
    ['rate({host="web"}[1m])', 400, {}],
    ['{host="web"} | json | unwrap n', 400, {}],
    ['{host="web"}', 400, { limit: "9999999" }],
    ['{host="web"}', 400, { delay_for: "6" }],
  ] as const)
    assert.equal(await tail(query, params).refused, status, query);
  const first = tail('{host="web"}');
  await first.opened;
  assert.equal(await tail('{host="web"}').refused, 429);
});

test("tails of both kinds count in one limit", async () => {
  const { url, tail } = await tailHub({ tailsPerHub: 1 });
  const first = tail('{host="web"}');
  await first.opened;
  const page = new Client(url);
  await page.next("welcome");
  page.open();
  assert.match((await page.next("error")).message, /1 tails are open, of 1/);
});

test("a value that is too long for a selector's expressions is left out, and the pipeline goes on", async () => {
  const { live, tail } = await tailHub();
  const reader = tail(`{text=~"${"(a?b?c?d?e?){16}x".repeat(4)}"}`);
  await reader.opened;
  live.offer(events(["a"], "logs-1", { text: "a".repeat(400_000) }));
  const { streams, dropped_entries: dropped } = await reader.next();
  assert.deepEqual([streams.length, dropped.length], [0, 1]);
});

test("a tail ends with its client, with a message, and where older lines can't be read", async () => {
  const run: RunCall = () => Promise.reject(new AppError("overloaded", "too many searches"));
  const { live, tail } = await tailHub({}, run);
  const refused = tail('{host="web"}');
  const [code, reason] = (await once(refused.socket, "close")) as [number, Buffer];
  assert.deepEqual([code, reason.toString()], [4400, "too many searches"]);
  const talking = tail('{host="web"}', { limit: "0" });
  await talking.opened;
  talking.socket.send("hello");
  assert.equal(((await once(talking.socket, "close")) as [number])[0], 4400);
  assert.equal(live.listening, false);
});

test("a line that nests deeper than the stack is shown cut, and those beside it are shown whole", async () => {
  const { live, tail } = await tailHub();
  const reader = tail('{host="web"}', { limit: "0" });
  await reader.opened;
  const depth = 200_000;
  const nested = `${"[".repeat(depth)}"x"${"]".repeat(depth)}`;
  const deep = (timestampMs: number, fields: string) => {
    return { index: "logs-1", id: "1", timestampMs, source: Buffer.from(`{"host":"web",${fields}}`) };
  };
  live.offer([
    deep(1, `"message":["a",${nested}]`),
    deep(2, `"other":${nested}`),
    ...events(["b"]),
    deep(2_000, `"message":${nested}`),
  ]);
  const frame = await reader.next();
  const texts = frame.streams.flatMap(({ values }) => values.map(([, text]) => text));
  assert.deepEqual(
    texts.map((text) => text.replaceAll(/\[+(?:null)?\]+/g, "[]")),
    ["a", '{"host":"web","other":[]}', '{"host":"web","message":[]}', "b"],
  );
  assert.deepEqual(frame.dropped_entries, []);
});

test("what fails on a line drops that line alone, and the tail goes on", async () => {
  const failing: CompileLogTail = () => ({
    literal: "",
    selects: ({ source }) => {
      if (source["message"] === "unselectable") throw new RangeError("fault");
      return true;
    },
    labels: () => ({ label: "x" }),
    line: ({ source }) => {
      if (source["message"] === "unprintable") return Promise.reject(new RangeError("fault"));
      return Promise.resolve({ stream: {}, line: String(source["message"]) });
    },
  });
  const hub = await startHub({}, KEY, undefined, failing);
  const reader = new TailReader(`${hub.logTailUrl}?query=x&limit=0`);
  await reader.opened;
  hub.live.offer(events(["unselectable", "unprintable", "good"]));
  const { streams, dropped_entries: dropped } = await reader.next();
  assert.deepEqual(streams[0]?.values, [["1002000000", "good"]]);
  assert.deepEqual(
    dropped.map(({ timestamp }) => timestamp),
    ["1000000000", "1001000000"],
  );
});
