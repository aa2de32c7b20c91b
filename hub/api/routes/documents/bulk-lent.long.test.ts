/** Large bodies of `_bulk` whose documents a thread has. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientRequest, request } from "node:http";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { AppError } from "#proto/kit/errors.ts";
import {
  type BulkHub,
  comparable,
  LINES,
  openBulkHub,
  SHARDS,
  type WatchedBodies,
  watchedBodies,
} from "#test/support/api/bulk-hub.ts";
import type { Reply } from "#test/support/api/http-client.ts";

const LIMIT = { timeout: 120_000 };

/** A body with an id before each document. */
function keyedBody(count: number): string {
  return Array.from({ length: count }, (_, n) => `{"index":{"_id":"${n}"}}\n{"n":${n}}\n`).join("");
}

test(
  "where the thread of a body with ids is lost in the middle the documents that are left fail, each by its id",
  LIMIT,
  async (t) => {
    const bodies = watchedBodies(t);
    bodies.before = ({ kind }) => {
      if (kind === "encode" && bodies.encoded > 1) throw new AppError("unavailable", "lost");
    };
    const { send } = await openBulkHub(t, bodies);
    const { body } = await send("POST", "/plain/_doc/_bulk", keyedBody(26_000), LINES);
    const items = Array.from({ length: body["items"]!.length }, (_, n) => body["items"]![n]!["index"]!);
    assert.equal(items.length, 26_000);
    for (const [n, { _id: id, status }] of items.entries())
      assert.deepEqual([id, status], [`${n}`, n < 25_000 ? 201 : 503]);
  },
);

/** Sends a body. `gone`: once the client has left. */
function upload(url: string, body: string): { readonly client: ClientRequest; readonly gone: Promise<void> } {
  const client = request(url, { method: "POST", headers: LINES });
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  client.on("error", () => resolve());
  client.end(body);
  return { client, gone };
}

/** Lets the thread lose a body with its second part. Counts how often the catalog is read from then on, as for each item's failure. */
function failLater(
  t: TestContext,
  { node }: BulkHub,
  bodies: WatchedBodies,
  onRead: () => void = () => undefined,
) {
  const seen = { jobs: 0, reads: 0 };
  bodies.before = ({ kind }) => {
    if (kind !== "scan" && ++seen.jobs > 1) throw new AppError("unavailable", "lost");
  };
  const get = node.catalog.get.bind(node.catalog);
  t.mock.method(node.catalog, "get", (name: string) => {
    if (seen.jobs > 1 && seen.reads++ === 0) onRead();
    return get(name);
  });
  return seen;
}

test("the failure of documents without ids that are left is written once and copied", LIMIT, async (t) => {
  const bodies = watchedBodies(t);
  const hub = await openBulkHub(t, bodies);
  const seen = failLater(t, hub, bodies);
  const { body } = await hub.send("POST", "/plain/_bulk", '{"index":{}}\n{"n":1}\n'.repeat(30_000), LINES);
  const statuses = Array.from({ length: 30_000 }, (_, n) => Number(body["items"]![n]!["index"]!["status"]));
  assert.deepEqual([statuses.indexOf(503), statuses.lastIndexOf(201)], [25_000, 24_999]);
  assert.ok(seen.reads < 100, `${seen.reads} reads`);
});

test(
  "the failures of documents that are left aren't written for a client that has gone",
  LIMIT,
  async (t) => {
    const bodies = watchedBodies(t);
    const hub = await openBulkHub(t, bodies);
    const { client, gone } = upload(`${hub.url()}/plain/_bulk`, keyedBody(300_000));
    const seen = failLater(t, hub, bodies, () => client.destroy());
    await gone;
    while (bodies.held > 0) await setImmediate();
    assert.ok(seen.reads > 0 && seen.reads < 200_000, `${seen.reads} reads`);
  },
);

test(
  "documents whose index is replaced or closed while a thread packs them are answered as by the present one",
  LIMIT,
  async (t) => {
    const bodies = watchedBodies(t);
    const { node, send } = await openBulkHub(t, bodies);
    const { catalog } = node;
    const statusOf = async (): Promise<unknown> => {
      const { body } = await send("POST", "/plain/_bulk", keyedBody(3), LINES);
      return Array.from({ length: 3 }, (_, n) => body["items"]![n]!["index"]!["status"]);
    };
    bodies.before = async ({ kind }) => {
      if (kind !== "encode") return;
      await catalog.delete(["plain"]);
      await catalog.create("plain", { settings: {}, mappings: {}, aliases: {} });
    };
    assert.deepEqual(await statusOf(), [201, 201, 201]);
    assert.equal((await node.documents.get("plain", "2", {}))?.version, 1);
    bodies.before = async ({ kind }) => {
      if (kind === "encode") await catalog.setState("plain", "close");
    };
    assert.deepEqual(await statusOf(), [400, 400, 400]);
    assert.equal(bodies.held, 0);
  },
);

test(
  "of a body that comes back after its first part each document is answered as without threads",
  LIMIT,
  async (t) => {
    const bodies = watchedBodies(t);
    const hubs = [await openBulkHub(t, bodies), await openBulkHub(t)];
    // The second part, from 25,000 on, has broken JSON and a field that may not be added, and ids of the first part.
    const others = new Map([
      [100, '{"n":"x"}'],
      [25_600, "{"],
      [25_700, '{"other":1}'],
    ]);
    const text = Array.from(
      { length: 26_000 },
      (_, n) => `{"create":{"_id":"k${n % 25_900}"}}\n${others.get(n) ?? `{"n":${n}}`}\n`,
    ).join("");
    const replies: Reply[] = [];
    for (const { node, send } of hubs) {
      const mappings = { dynamic: "strict", properties: { n: { type: "long" } } };
      await node.catalog.create("own", { settings: { number_of_shards: SHARDS }, mappings, aliases: {} });
      replies.push(await send("POST", "/own/_bulk", text, LINES));
    }
    assert.deepEqual([bodies.encoded, bodies.held], [1, 0]);
    const { items } = replies[0]!.body;
    const statuses = [100, 101, 25_600, 25_650, 25_700, 25_901].map((n) => items![n]!["create"]!["status"]);
    assert.deepEqual(statuses, [400, 201, 400, 201, 400, 409]);
    assert.ok(isDeepStrictEqual(comparable(replies[0]!), comparable(replies[1]!)), "the answers differ");
  },
);

test(
  "of a body whose client leaves while its second part is packed the third isn't written",
  LIMIT,
  async (t) => {
    const bodies = watchedBodies(t);
    const { log, url } = await openBulkHub(t, bodies);
    const { client, gone } = upload(`${url()}/plain/_bulk`, keyedBody(52_000));
    bodies.before = async (_job, signal) => {
      if (bodies.encoded < 2) return;
      client.destroy();
      if (!signal!.aborted) await once(signal!, "abort");
    };
    await gone;
    while (bodies.held > 0) await setImmediate();
    assert.equal(bodies.encoded, 2);
    assert.ok(log.messages.length <= 10, `${log.messages.length} messages`);
  },
);

test(
  "documents of a body of many scans are written each under its id, also where the last come back",
  LIMIT,
  async (t) => {
    const bodies = watchedBodies(t);
    let scans = 0;
    bodies.before = ({ kind }) => void (scans += kind === "scan" ? 1 : 0);
    const { node, send } = await openBulkHub(t, bodies);
    const count = 18_000;
    const idOf = (n: number): string => "x".repeat(n % 7) + n;
    const documentOf = (n: number): string =>
      n === count - 1 ? '{"other":1}' : `{"n":${n}}${" ".repeat(900 + (n % 200))}`;
    const lines = Array.from(
      { length: count },
      (_, n) => `{"create":{"_id":"${idOf(n)}"}}\r\n${documentOf(n)}\r\n`,
    );
    const { body } = await send("POST", "/strict/_bulk", lines.join(""), LINES);
    assert.deepEqual([scans, bodies.encoded, bodies.held], [3, 2, 0]);
    for (let n = 0; n < count; n++) {
      const { _id: id, status } = body["items"]![n]!["create"]!;
      assert.deepEqual([id, status], [idOf(n), n === count - 1 ? 400 : 201]);
      if (n % 50 > 0 || n === count - 1) continue;
      const { source } = (await node.documents.get("strict", idOf(n), {}))!;
      assert.equal(Buffer.from(source).toString(), `${documentOf(n)}\r`);
    }
  },
);
