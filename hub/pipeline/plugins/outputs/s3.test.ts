import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { gunzipSync } from "node:zlib";
import type { OutputRecord } from "#hub/pipeline/plugins/output.ts";
import { OutputWorld } from "#test/contract/output-runner.ts";

interface Bucket {
  readonly url: string;
  /** By key, unpacked. */
  readonly objects: Map<string, string>;
  /** Status of the next answer to a PUT, once. */
  failure: number | undefined;
  /** Requests that are answered when this many are in progress. */
  together: number;
  /** Requests under way, now and at most. */
  busy: number;
  busiest: number;
}

/** The part of S3's interface that is used. */
async function startBucket(t: TestContext): Promise<Bucket> {
  const objects = new Map<string, string>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://bucket");
    const key = decodeURIComponent(pathname).replace("/logs/", "");
    const body = await buffer(request);
    assert.match(request.headers.authorization ?? "", /^AWS4-HMAC-SHA256 Credential=key\//);
    if (request.method === "GET") {
      const found = [...objects.keys()]
        .filter((each) => each.startsWith(searchParams.get("prefix") ?? ""))
        .sort();
      return response.end(found.map((each) => `<Key>${each}</Key>`).join(""));
    }
    if (bucket.failure !== undefined) {
      response.writeHead(bucket.failure);
      bucket.failure = undefined;
      return response.end("<Code>Broken</Code>");
    }
    objects.set(key, String(key.endsWith(".gz") ? gunzipSync(body) : body));
    return response.end();
  };
  const held: (() => void)[] = [];
  const server = createServer((request, response) => {
    bucket.busiest = Math.max(bucket.busiest, ++bucket.busy);
    response.once("finish", () => bucket.busy--);
    held.push(() => void answer(request, response));
    if (held.length < bucket.together) return;
    bucket.together = 1;
    for (const go of held.splice(0)) go();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const bucket: Bucket = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    failure: undefined,
    together: 1,
    busy: 0,
    busiest: 0,
  };
  return bucket;
}

const world = ({ url }: Bucket, more = ""): OutputWorld =>
  new OutputWorld(
    `s3 { bucket => "logs" endpoint => "${url}" access_key_id => "key" secret_access_key => "s" prefix => "%{app}/" ${more} }`,
  );

test("events are objects by prefix, lines in their order, packed unless told otherwise", async (t) => {
  const bucket = await startBucket(t);
  await world(bucket).write([
    { app: "a", n: 1 },
    { app: "b", n: 2 },
    { app: "a", n: 3 },
  ]);
  await world(bucket, 'encoding => "none"').write([{ app: "c", n: 4 }]);
  const keys = [...bucket.objects.keys()].sort();
  assert.match(keys[0]!, /^a\/[0-9a-f]{16}-0{16}-0{15}2-[0-9a-f]{16}\.ndjson\.gz$/);
  assert.match(keys[2]!, /^c\/[0-9a-f]{16}-0{16}-0{16}-[0-9a-f]{16}\.ndjson$/);
  const numbers = keys.map((key) =>
    bucket.objects
      .get(key)!
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { n: number }).n),
  );
  assert.deepEqual(numbers, [[1, 3], [2], [4]]);
});

test("an event can't name an object outside of the bucket", async (t) => {
  const bucket = await startBucket(t);
  const output = world(bucket);
  const escapes = ["../other", "..", "a/../../other", ".", "a/."];
  await output.write([{ app: "a..b" }, ...escapes.map((app) => ({ app }))]);
  assert.deepEqual(
    [...bucket.objects.keys()].map((key) => key.split("/")[0]),
    ["a..b"],
  );
});

test("events that come once more after a crash, in other batches, are stored once", async (t) => {
  const bucket = await startBucket(t);
  const record = (place: number): OutputRecord => ({
    id: `${place}`,
    sourceKey: "file",
    place,
    timeMs: 0,
    target: "2026/01/",
    body: Buffer.from(`${place}\n`),
  });
  const { signal } = new AbortController();
  const places = (from: number, to: number): OutputRecord[] =>
    Array.from({ length: to - from }, (_, n) => record(from + n));
  await world(bucket).writer.write(places(0, 5), signal);
  // Another process, which has read the log from further back.
  const again = world(bucket);
  await again.writer.write(places(3, 8), signal);
  await again.writer.write(places(8, 9), signal);
  assert.equal([...bucket.objects.values()].join(""), "0\n1\n2\n3\n4\n5\n6\n7\n8\n");
  assert.equal(bucket.objects.size, 3);
});

test("ranges of a source that come late or once more are each stored once", async (t) => {
  const bucket = await startBucket(t);
  const { signal } = new AbortController();
  const places = (from: number, to: number): OutputRecord[] => {
    const message = {};
    return Array.from({ length: to - from }, (_, n) => ({
      id: `${from + n}`,
      sourceKey: "file",
      place: from + n,
      message,
      timeMs: 0,
      target: "x/",
      body: Buffer.from(`${from + n}\n`),
    }));
  };
  const stored = (): number[] =>
    [...bucket.objects.values()]
      .flatMap((lines) => lines.trim().split("\n").map(Number))
      .sort((a, b) => a - b);
  // The agent sent 10 to 20 before 0 to 10; 20 to 30 is in flight still.
  await world(bucket).writer.write([...places(10, 15), ...places(30, 35)], signal);
  const again = world(bucket);
  await again.writer.write(places(0, 12), signal);
  await again.writer.write(places(15, 32), signal);
  assert.deepEqual(
    stored(),
    Array.from({ length: 35 }, (_, n) => n),
  );
  // One write, whose places fall.
  await world(bucket).writer.write([...places(50, 60), ...places(40, 45)], signal);
  await world(bucket).writer.write(places(40, 60), signal);
  assert.deepEqual(
    stored().slice(35),
    Array.from({ length: 20 }, (_, n) => 40 + n),
  );
});

test("several prefixes are stored at the same time, and a failure waits for those under way", async (t) => {
  const bucket = await startBucket(t);
  const events = Array.from({ length: 40 }, (_, n) => ({ app: `a${n}` }));
  const output = world(bucket);
  bucket.failure = 403;
  bucket.together = 8;
  await assert.rejects(output.write(events), { code: "forbidden" });
  assert.equal(bucket.busy, 0);
  assert.ok(bucket.objects.size < 40);
  await output.write(events);
  assert.equal(new Set([...bucket.objects.keys()].map((key) => key.split("/")[0])).size, 40);
  assert.equal(bucket.busiest, 8);
});

test("events without a source are all stored, and a write that is repeated names its objects alike", async (t) => {
  const bucket = await startBucket(t);
  const record = (id: string, sourceKey = ""): OutputRecord => ({
    id,
    sourceKey,
    place: 0,
    timeMs: 0,
    target: "x/",
    body: Buffer.from(`${id}\n`),
  });
  const { signal } = new AbortController();
  const output = world(bucket);
  await output.writer.write([record("a"), record("b")], signal);
  await output.writer.write([record("c")], signal);
  await world(bucket).writer.write([record("c")], signal);
  assert.deepEqual([...bucket.objects.values()], ["a\nb\n", "c\n"]);
  // Of several children of one event the last share a place.
  await output.writer.write([record("d", "file")], signal);
  await output.writer.write([record("e", "file")], signal);
  assert.equal([...bucket.objects.values()].join(""), "a\nb\nc\nd\ne\n");
});

test("a bucket that fails holds the events up, and one that refuses says what to check", async (t) => {
  const bucket = await startBucket(t);
  const output = world(bucket);
  bucket.failure = 403;
  await assert.rejects(output.write([{ app: "a" }]), {
    code: "forbidden",
    message: /answered 403 \(Broken\) to PUT; check the bucket/,
  });
  await output.write([{ app: "a" }]);
  assert.equal(bucket.objects.size, 1);
  assert.throws(() => new OutputWorld('s3 { bucket => "No" }'), /can't be the name of a bucket/);
  assert.throws(() => new OutputWorld('s3 { bucket => "logs" access_key_id => "a" }'), /go together/);
});
