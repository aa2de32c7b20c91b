import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { answeringClient } from "#test/harness/answering-client.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import type { ClusterClient } from "./cluster-client.ts";
import { type ImportReport, importCluster } from "./import-cluster.ts";
import { reportOf } from "./import-report.ts";

const NAME = ".ds-s-000001";

function importOf(
  source: ClusterClient,
  hub: ClusterClient,
  signal = new AbortController().signal,
): Promise<ImportReport> {
  return importCluster({
    source,
    hub,
    patterns: [],
    parts: new Set(["indices", "documents"] as const),
    rate: Infinity,
    parallel: 1,
    clock: new StillClock(),
    signal,
    progress: () => undefined,
  });
}

/** A source without sequence numbers, whose data stream `s` has one document and a final pipeline. */
function streamSource(t: TestContext): Promise<ClusterClient> {
  const settings = { index: { uuid: "u", default_pipeline: "first", final_pipeline: "last" } };
  const answers: Record<string, JsonObject | JsonObject[]> = {
    "/": { version: { number: "7.17.9" } },
    [`/${NAME}`]: { [NAME]: { settings, data_stream: "s" } },
    [`/${NAME}/_count`]: { count: 1 },
    "/_search/scroll": { hits: { hits: [] } },
    [`/${NAME}/_search?scroll=10m`]: {
      _scroll_id: "1",
      hits: { total: 1, hits: [{ _id: "a", _source: {} }] },
    },
  };
  return answeringClient(t, (path) => {
    if (path.startsWith("/_cat/indices")) return { status: 200, body: [{ index: NAME, status: "open" }] };
    return { status: 200, body: answers[path] ?? {} };
  });
}

/** A hub that has the data stream `s`, and what changed it. */
async function streamHub(t: TestContext): Promise<{
  client: ClusterClient;
  final: string;
  calls: string[];
  mode: string;
  /** Called for documents; undefined: the connection is reset. */
  onBulk: () => number | undefined;
  isAway: boolean;
}> {
  const hub = {
    calls: [] as string[],
    final: "last",
    mode: "RUNNING",
    onBulk: (): number | undefined => 200,
    isAway: false,
  };
  let position: unknown;
  const answerTo = (path: string, sent: string, method: string): object => {
    if (path === "/") return { version: { number: "7.17.9" } };
    if (path.endsWith("/_count")) return { count: 1 };
    if (path.startsWith("/.tailrace-import/")) {
      if (method === "PUT") position = JSON.parse(sent);
      return position === undefined ? {} : { _source: position };
    }
    if (path === "/_ilm/status") return { operation_mode: hub.mode };
    if (path === "/_ilm/stop" || path === "/_ilm/start") {
      hub.mode = path === "/_ilm/stop" ? "STOPPED" : "RUNNING";
      hub.calls.push(path);
    }
    if (path === "/s/_settings" && method === "PUT") {
      hub.final = (JSON.parse(sent) as { index: { final_pipeline: string } }).index.final_pipeline;
      hub.calls.push(`final ${hub.final}`);
    }
    if (path.startsWith("/_bulk")) {
      hub.calls.push(path);
      return { items: [{ create: { status: 201 } }] };
    }
    return { ".ds-s-1": { settings: { index: { uuid: "h", final_pipeline: hub.final } } } };
  };
  const client = await answeringClient(t, (path, sent, method) => {
    if (hub.isAway) return undefined;
    const body = answerTo(path, sent, method);
    const status = path.startsWith("/_bulk") ? hub.onBulk() : 200;
    return status === undefined ? undefined : { status, body };
  });
  return Object.assign(hub, { client });
}

const COPIED = ["/_ilm/stop", "final _none", "/_bulk?pipeline=_none", "final last", "/_ilm/start"];

test("documents are copied around all pipelines, and the final one is set again", async (t) => {
  const hub = await streamHub(t);
  await importOf(await streamSource(t), hub.client);
  assert.deepEqual(hub.calls, COPIED);
});

test("a final pipeline that an interrupted import took off is set again", async (t) => {
  const hub = await streamHub(t);
  hub.final = "_none";
  await importOf(await streamSource(t), hub.client);
  assert.deepEqual(hub.calls, COPIED);
});

test("lifecycle policies that were stopped before stay so, and the report says it", async (t) => {
  const hub = await streamHub(t);
  hub.mode = "STOPPED";
  const report = await importOf(await streamSource(t), hub.client);
  assert.deepEqual([hub.mode, report.lifecyclesStopped], ["STOPPED", true]);
  assert.match(reportOf(report).remarks.join("\n"), /POST \/_ilm\/start/);
});

test("a data stream read by scroll isn't imported a second time", async (t) => {
  const source = await streamSource(t);
  const hub = await streamHub(t);
  const first = await importOf(source, hub.client);
  assert.equal(first.indices[0]!.error, undefined);
  const { indices } = await importOf(source, hub.client);
  assert.match(indices[0]!.error ?? "", /delete the data stream in the hub and import again/);
  assert.deepEqual(hub.calls, [...COPIED, "/_ilm/stop", "/_ilm/start"]);
});

test("an import that is stopped starts the policies again and sets the final pipeline", async (t) => {
  const hub = await streamHub(t);
  const stopped = new AbortController();
  hub.onBulk = () => {
    stopped.abort(new AppError("cancelled", "the import was stopped"));
    return undefined;
  };
  const ended = importOf(await streamSource(t), hub.client.until(stopped.signal), stopped.signal);
  await assert.rejects(ended, { message: "the import was stopped" });
  assert.deepEqual(hub.calls, COPIED);
});

test("an import that loses its hub fails with the first error and what is to be done", async (t) => {
  const hub = await streamHub(t);
  hub.onBulk = () => {
    hub.isAway = true;
    return 403;
  };
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  // The 10 s in which the changes would be taken back are over at once.
  t.mock.method(AbortSignal, "timeout", (ms: number) => timeout(ms === 10_000 ? 0 : ms));
  await assert.rejects(importOf(await streamSource(t), hub.client), (error) => {
    assert.ok(error instanceof AppError);
    assert.match(
      error.message,
      /answered 403 to .*; final pipelines of s may still be off.*; lifecycle policies may still be stopped: POST \/_ilm\/start/,
    );
    return true;
  });
});

/** Imports from a source whose one index has the `name` and belongs to the data stream `stream`; returns the requests to the hub. */
async function namedImport(
  t: TestContext,
  name: string,
  stream: string,
): Promise<{ report: ImportReport; paths: string[] }> {
  const settings = { index: { uuid: "u", final_pipeline: "last" } };
  const source = await answeringClient(t, (path) => {
    if (path.startsWith("/_cat/indices"))
      return { status: 200, body: [null, { index: name, status: "open" }] };
    if (path === "/") return { status: 200, body: { version: { number: "7.17.9" } } };
    if (path.includes("_count")) return { status: 200, body: { count: 0 } };
    return { status: 200, body: { [name]: { settings, data_stream: stream }, hits: { total: 0, hits: [] } } };
  });
  const paths: string[] = [];
  const hub = await answeringClient(t, (path, _sent, method) => {
    paths.push(`${method} ${path}`);
    if (path === "/") return { status: 200, body: { version: { number: "7.17.9" } } };
    if (method !== "PUT" || !path.includes("_data_stream")) return { status: 404, body: {} };
    const reason = `invalid data stream name [${decodeURIComponent(path)}]`;
    return { status: 400, body: { error: { type: "invalid_index_name_exception", reason } } };
  });
  return { report: await importOf(source, hub), paths };
}

test("a name that speaks as the refusal of a taken one does is refused", async (t) => {
  const { report, paths } = await namedImport(t, "x", "*,-already exists");
  assert.match(report.indices[0]!.error ?? "", /invalid data stream name/);
  assert.deepEqual(
    paths.filter((path) => path.includes("_settings")),
    [],
  );
});

test("nothing is imported to the positions of imports", async (t) => {
  for (const [name, stream] of [
    ["x", ".tailrace-import"],
    ["x", ".tailrace-metrics-2026.01.01"],
  ] as const) {
    const { report, paths } = await namedImport(t, name, stream);
    assert.match(report.indices[0]!.error ?? "", /is the hub's own/);
    assert.deepEqual(
      paths.filter((path) => path.startsWith("PUT")),
      [],
    );
  }
});

for (const name of ["..", ".", "\ud800"]) {
  test(`a data stream named ${JSON.stringify(name)} is refused before the hub is asked for it`, async (t) => {
    const error = { code: "request_invalid", message: /is not a valid name in a cluster/ };
    await assert.rejects(namedImport(t, "x", name), error);
  });
}
