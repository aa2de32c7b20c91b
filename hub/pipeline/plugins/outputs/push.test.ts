import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { OTLP_LOGS_ANSWER } from "#hub/pipeline/formats/otlp-logs-schema.ts";
import { decodeOtlpProtobuf, otlpEvents } from "#hub/pipeline/plugins/inputs/intake/otlp-logs.ts";
import { InputWorld, plain } from "#test/contract/input-runner.ts";
import { OutputWorld } from "#test/contract/output-runner.ts";
import { freePort } from "#test/harness/free-ports.ts";

interface Request {
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

type Answer = (request: Request) => { status: number; body?: string | Uint8Array };

/** Starts a server; returns its address and the requests it got. */
async function collector(t: TestContext, answer: Answer = () => ({ status: 204 })) {
  const requests: Request[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((whole) => {
      const { headers, url = "" } = request;
      const body = headers["content-encoding"] === "gzip" ? gunzipSync(whole) : whole;
      requests.push({ url, headers, body });
      const { status, body: text } = answer(requests.at(-1)!);
      response.writeHead(status).end(text);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function world(t: TestContext, text: string): OutputWorld {
  const made = new OutputWorld(text);
  t.after(() => made.writer.stop());
  return made;
}

test("loki gets streams by their labels, with times by which a line pushed again is the same", async (t) => {
  const { requests, url } = await collector(t);
  const output = world(
    t,
    `loki { url => "${url}" labels => { "app" => "%{app}" "level" => "%{[log][level]}" } tenant_id => "%{team}"
       structured_metadata => { "trace" => "%{trace}" } token => "secret" http_compression => true }`,
  );
  const events = [
    { message: "same", app: "shop", team: "a", trace: "t1" },
    { message: "same", app: "shop", team: "a" },
    { message: "three", app: "web", log: { level: "warn" }, team: "a" },
    { n: 4, app: "web", team: "b" },
  ];
  const others = [{ message: "no label" }, { message: "a", app: "shop", team: "a\r\nb" }];
  assert.deepEqual(await output.write([...events, ...others]), { again: [], refused: [] });
  assert.deepEqual(output.refused, [
    "no label of the event has a value",
    'the tenant "a\\r\\nb" can\'t be sent as a header',
  ]);
  const [a, b] = requests;
  assert.deepEqual(
    [a!.url, a!.headers["x-scope-orgid"], b!.headers["x-scope-orgid"]],
    ["/loki/api/v1/push", "a", "b"],
  );
  assert.equal(a!.headers.authorization, "Bearer secret");
  const { streams } = JSON.parse(a!.body.toString());
  assert.deepEqual(
    streams.map(({ stream }: { stream: object }) => stream),
    [{ app: "shop" }, { app: "web", level: "warn" }],
  );
  const [[first, , metadata], [second]] = streams[0].values;
  assert.deepEqual(metadata, { trace: "t1" });
  assert.equal(BigInt(second) - BigInt(first), 1n, "equal lines of one millisecond are two lines");
  assert.deepEqual(JSON.parse(JSON.parse(b!.body.toString()).streams[0].values[0][1]).n, 4);
});

test("what loki pushes is taken by the input of that protocol", async (t) => {
  const hub = new InputWorld();
  const port = await freePort();
  const input = hub.make(`loki { host => "127.0.0.1" port => ${port} tokens => ["k"] }`);
  await input.start();
  t.after(() => input.stop());
  const output = world(
    t,
    `loki { url => "http://127.0.0.1:${port}" token => "k" labels => { "app" => "shop" } }`,
  );
  await output.write([{ message: "a" }, { message: "b" }]);
  assert.deepEqual(hub.messages, ["a", "b"]);
});

test("splunk_hec gets events with metadata, in bounded batches", async (t) => {
  const { requests, url } = await collector(t, () => ({ status: 200, body: '{"text":"Success","code":0}' }));
  const output = world(
    t,
    `splunk_hec { url => "${url}" token => "key" event => message index => "main" batch_events => 2 }`,
  );
  const events = ["one", "two", "three"].map((message) => ({ message, host: { name: "web-1" } }));
  await output.write([...events, { n: 1 }]);
  assert.deepEqual(
    requests.map(({ url: path, headers }) => [path, headers.authorization]),
    [1, 2].map(() => ["/services/collector/event", "Splunk key"]),
  );
  const sent = requests.map(({ body }) =>
    body
      .toString()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  );
  assert.deepEqual(sent[0]![0], { time: 0, host: "web-1", sourcetype: "_json", index: "main", event: "one" });
  assert.equal(sent[1]![1].event.n, 1);
});

test("otlp sends what the input of that protocol reads back, to the millisecond", async (t) => {
  const { requests, url } = await collector(t, () => ({ status: 200 }));
  const output = world(t, `otlp { url => "${url}" }`);
  const fields = {
    message: "hello",
    log: { level: "warn" },
    attributes: { n: 5, ratio: 0.5, is: true, list: ["a", { b: 1 }] },
    resource: { attributes: { "service.name": "shop", zone: "eu" } },
    trace: { id: "0af7651916cd43dd8448eb211c80319c" },
    span: { id: "b7ad6b7169203331" },
  };
  const time = "2023-11-14T22:13:20.001Z";
  await output.write([
    { ...fields, "@timestamp": time },
    { message: "other", http: { status: 404 } },
  ]);
  assert.equal(requests[0]!.url, "/v1/logs");
  const {
    events: [one, two],
  } = otlpEvents(decodeOtlpProtobuf(requests[0]!.body)!, 0);
  assert.deepEqual(plain(one!), { ...fields, service: { name: "shop" }, scope: { name: "tailrace" } });
  assert.deepEqual(plain(two!)["attributes"], { "http.status": 404 });
});

test("what may pass is tried again in order, what won't is found and refused by itself", async (t) => {
  const seen: string[] = [];
  let isAway = true;
  const { url } = await collector(t, ({ body }) => {
    const text = body.toString();
    if (text.includes("bad")) return { status: 400, body: "bad event" };
    if (isAway && text.includes("e5")) return { status: 503 };
    seen.push(...[...text.matchAll(/"e(\d)"/g)].map(([, n]) => n!));
    return { status: 200 };
  });
  const output = world(t, `splunk_hec { url => "${url}" event => message batch_events => 4 }`);
  const events = ["e0", "e1", "bad", "e3", "e4", "e5", "e6", "e7", "e8"].map((message) => ({ message }));
  const rest = await output.write(events);
  assert.deepEqual(seen, ["0", "1", "3"]);
  assert.deepEqual(rest?.again, [4, 5, 6, 7, 8]);
  assert.deepEqual(
    rest?.refused?.map(({ place, reason }) => [place, /answered 400: bad event/.test(reason)]),
    [[2, true]],
  );
  isAway = false;
  await output.write(events.slice(4));
  assert.deepEqual(seen.slice(3), ["4", "5", "6", "7", "8"]);
});

const REMEDIES: [status: number, hint: RegExp][] = [
  [401, /answered 401: .*token/],
  [403, /answered 403: .*token/],
  [404, /answered 404: .*url/],
  [500, /answered 500/],
];

for (const [status, hint] of REMEDIES) {
  test(`events wait while the server answers ${status}, and the reason says what to look at`, async (t) => {
    const { url } = await collector(t, () => ({ status }));
    await assert.rejects(world(t, `loki { url => "${url}" }`).write([{ message: "a" }]), (error) => {
      assert.equal((error as { code: string }).code, "unavailable");
      assert.match((error as Error).message, hint);
      return true;
    });
  });
}

test("a server that leaves out an event of OTLP has it refused; of several it can't be told which", async (t) => {
  const body = OTLP_LOGS_ANSWER.encode({
    partialSuccess: { rejectedLogRecords: 1, errorMessage: "too old" },
  }).finish();
  const { url } = await collector(t, () => ({ status: 200, body }));
  const output = world(t, `otlp { url => "${url}" }`);
  assert.deepEqual(await output.write([{ message: "a" }]), {
    again: [],
    refused: [{ place: 0, reason: "the server left out 1 records: too old" }],
  });
  assert.deepEqual(await output.write([{ message: "a" }, { message: "b" }]), { again: [], refused: [] });
});

const FAULTS: [options: string, fault: RegExp][] = [
  ['loki { url => "loki.example" }', /isn't an address of HTTP/],
  ['loki { url => "http://h" labels => { "a-b" => "x" } }', /can't be a label/],
  ['otlp { url => "http://h" user => "u" }', /go together/],
  ['splunk_hec { url => "http://h" token => "a" connection => "b" }', /several ways/],
];

for (const [options, fault] of FAULTS) {
  test(`${options} is refused`, () => {
    assert.throws(() => new OutputWorld(options), fault);
  });
}

test("a host that pipelines may not connect to is refused", async (t) => {
  const output = world(t, 'otlp { url => "http://forbidden.example" }');
  await assert.rejects(output.write([{ message: "a" }]), { code: "forbidden" });
});
