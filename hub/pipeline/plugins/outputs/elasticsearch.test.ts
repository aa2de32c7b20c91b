import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { planPipelines } from "#hub/pipeline/program/plan.ts";
import { OutputWorld } from "#test/contract/output-runner.ts";
import { freePort } from "#test/harness/free-ports.ts";

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly lines: Record<string, Record<string, unknown>>[];
}

type Answer = (seen: Seen) => { status: number; body?: unknown } | undefined;

/** Answers like a search engine: each document by its field `status`, 201 without it. */
async function engine(
  t: TestContext,
  answer: Answer = () => undefined,
): Promise<{ host: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const serve = async (request: IncomingMessage): Promise<{ status: number; body?: unknown }> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const whole = Buffer.concat(chunks);
    const text = (request.headers["content-encoding"] === "gzip" ? gunzipSync(whole) : whole).toString();
    const lines = text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
    const each = { method: request.method!, url: request.url!, headers: request.headers, lines };
    seen.push(each);
    return answer(each) ?? { status: 200, body: { items: request.method === "POST" ? itemsOf(lines) : [] } };
  };
  const server = createServer((request, response) => {
    void serve(request).then(({ status, body }) =>
      response.writeHead(status).end(JSON.stringify(body ?? {})),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

function itemsOf(lines: Seen["lines"]): unknown[] {
  const items: unknown[] = [];
  for (let at = 0; at < lines.length; at++) {
    const [name] = Object.keys(lines[at]!);
    const status = name === "delete" ? 404 : ((lines[++at] as Record<string, unknown>)["status"] ?? 201);
    const error = { type: "mapper_parsing_exception", reason: "no", caused_by: { reason: "why" } };
    items.push({ [name!]: { status, ...(name === "delete" ? { result: "not_found" } : { error }) } });
  }
  return items;
}

test("opensearch creates documents in a data stream, and signs in as its plugin's options say", async (t) => {
  const { host, seen } = await engine(t, ({ method }) => (method === "HEAD" ? { status: 404 } : undefined));
  const folder = mkdtempSync(join(tmpdir(), "tailrace-template-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const template = join(folder, "template.json");
  writeFileSync(template, '{"index_patterns":["logs-*"],"data_stream":{}}');
  const output = new OutputWorld(
    `opensearch { hosts => ["${host}"] auth_type => { type => "basic" user => "u" password => "p" } legacy_template => false template => "${template}" template_name => "web" data_stream => "true" data_stream_dataset => "web" }`,
  );
  t.after(() => output.writer.stop());
  // One that is there was written before a crash.
  const rest = await output.write([201, 409].map((status) => ({ status })));
  assert.deepEqual(rest, { again: [], refused: [] });
  const requests = seen.map(({ method, url }) => `${method} ${url}`);
  assert.deepEqual(requests, ["HEAD /_index_template/web", "PUT /_index_template/web", "POST /_bulk"]);
  assert.deepEqual(seen[2]!.lines[0], { create: { _index: "logs-web-default", _id: "id-0" } });
  assert.equal(seen[2]!.headers.authorization, `Basic ${Buffer.from("u:p").toString("base64")}`);
});

test("documents go over HTTP with an id that stays, and each failure is told apart", async (t) => {
  const { host, seen } = await engine(t);
  const output = new OutputWorld(
    `elasticsearch { hosts => ["${host}"] index => "Shop-%{kind}" user => "u" password => "p" routing => "%{kind}" custom_headers => { "X-A" => "b" } }`,
  );
  t.after(() => output.writer.stop());
  const statuses = [201, 429, 400, 409, 503, 404];
  const rest = await output.write(statuses.map((status) => ({ kind: "a", status })));
  assert.deepEqual(rest, {
    again: [1, 4],
    refused: [
      { place: 2, reason: "status 400: mapper_parsing_exception: no: why" },
      { place: 5, reason: "status 404: mapper_parsing_exception: no: why" },
    ],
  });
  assert.deepEqual(seen[0]!.lines[0], { index: { _index: "shop-a", _id: "id-0", routing: "a" } });
  assert.partialDeepStrictEqual(seen[0], {
    method: "POST",
    url: "/_bulk",
    headers: {
      authorization: `Basic ${Buffer.from("u:p").toString("base64")}`,
      "x-a": "b",
      "content-encoding": "gzip",
    },
  });
});

test("an update that met another one is made again", async (t) => {
  const body = { items: [{ update: { status: 409 } }, { update: { status: 200 } }] };
  const { host } = await engine(t, () => ({ status: 200, body }));
  const output = new OutputWorld(
    `elasticsearch { hosts => ["${host}"] index => "a" action => "update" document_id => "%{n}" }`,
  );
  t.after(() => output.writer.stop());
  assert.deepEqual(await output.write([{ n: 1 }, { n: 2 }]), { again: [0], refused: [] });
});

test("an update's body says what becomes of a missing document, as the options of scripts and upserts do", async (t) => {
  const { host, seen } = await engine(t);
  const params = { event: { n: 1, who: "a", "@timestamp": "1970-01-01T00:00:00.000Z" } };
  const document = params.event;
  const script = { source: "ctx._source.n += 1", lang: "painless", params };
  const rows: [options: string, body: unknown][] = [
    ["", { doc: document }],
    ["doc_as_upsert => true", { doc: document, doc_as_upsert: true }],
    ["upsert => '{ \"n\": %{n} }'", { doc: document, upsert: { n: 1 } }],
    ['script => "ctx._source.n += 1"', { script }],
    ['script => "ctx._source.n += 1" doc_as_upsert => true', { script, upsert: document }],
    ['script => "ctx._source.n += 1" upsert => "{}"', { script, upsert: {} }],
    ['script => "ctx._source.n += 1" scripted_upsert => true', { script, scripted_upsert: true, upsert: {} }],
    [
      'script => "add-%{who}" script_type => "indexed" script_var_name => "e"',
      { script: { id: "add-a", params: { e: document } } },
    ],
  ];
  for (const [options, body] of rows) {
    const output = new OutputWorld(
      `elasticsearch { hosts => ["${host}"] index => "a" action => "update" document_id => "%{n}" ${options} }`,
    );
    await output.write([{ n: 1, who: "a" }]);
    await output.writer.stop();
    assert.deepEqual(seen.at(-1)!.lines[1], body, options);
  }
});

test("an event can't make another document or request of an upsert", async (t) => {
  const { host, seen } = await engine(t);
  const text = (upsert: string): string =>
    `elasticsearch { hosts => ["${host}"] index => "a" action => "update" document_id => "1" upsert => '${upsert}' }`;
  const output = new OutputWorld(text('{"m": "%{m}", "%{m}": [1, {"l": ["%{m}", 1.5, null]}]}'));
  t.after(() => output.writer.stop());
  const messages = [
    '"}\n{"delete":{"_index":"other","_id":"1"}}\n{"a":"',
    'a","role":"admin","x":"',
    'say "hi"',
  ];
  await output.write(messages.map((m) => ({ m })));
  assert.deepEqual(output.refused, []);
  assert.deepEqual(
    seen[0]!.lines.filter((_, at) => at % 2 === 1).map(({ upsert }) => upsert),
    messages.map((m) => ({ m, [m]: [1, { l: [m, 1.5, null] }] })),
  );
  const unquoted = new OutputWorld(text('{"n": %{n}}'));
  t.after(() => unquoted.writer.stop());
  const others = ['1}\n{"delete":{}}', '1,"role":"admin"', '1,"n":2}, "x": {"y":3', "", "x"];
  await unquoted.write([...others.map((n) => ({ n })), {}, { n: 2 }]);
  assert.deepEqual(
    unquoted.refused,
    Array.from({ length: others.length + 1 }, () => "upsert makes no JSON object of the event"),
  );
  assert.deepEqual(
    seen[1]!.lines.map(({ upsert }) => upsert),
    [undefined, { n: 2 }],
  );
  const whole = new OutputWorld(text("%{doc}"));
  t.after(() => whole.writer.stop());
  await whole.write([{ doc: { a: 1 } }, { doc: '{"b":"}"}' }, { doc: "5" }, { doc: '{}, "doc": {}' }]);
  assert.equal(whole.refused.length, 2);
  assert.deepEqual(
    seen[2]!.lines.flatMap(({ upsert }) => upsert ?? []),
    [{ a: 1 }, { b: "}" }],
  );
  for (const template of ["{ %{members} }", "{%{k}: 1}", "{ %{k} : %{v} }", '{"a": {%{+YYYY}: 1}}'])
    assert.throws(() => new OutputWorld(text(template)), /this isn't a JSON object/, template);
});

test("updates, creations and deletions are what the action says, document by document", async (t) => {
  const { host, seen } = await engine(t);
  const output = new OutputWorld(
    `elasticsearch { hosts => ["http://${host}/base/"] index => "i" action => "%{do}" document_id => "%{id}" doc_as_upsert => true api_key => "a:b" compression_level => 0 }`,
  );
  t.after(() => output.writer.stop());
  await output.write(
    ["index", "create", "update", "delete", "forget"].map((action) => ({ do: action, id: action })),
  );
  assert.equal(seen[0]!.url, "/base/_bulk");
  assert.equal(seen[0]!.headers.authorization, `ApiKey ${Buffer.from("a:b").toString("base64")}`);
  const { lines } = seen[0]!;
  assert.deepEqual(
    [lines[0], lines[2], lines[4], lines[6]],
    [
      { index: { _index: "i", _id: "index" } },
      { create: { _index: "i", _id: "create" } },
      { update: { _index: "i", _id: "update", retry_on_conflict: 1 } },
      { delete: { _index: "i", _id: "delete" } },
    ],
  );
  assert.partialDeepStrictEqual(lines[5], { doc: { do: "update" }, doc_as_upsert: true });
  assert.match(output.refused.join(), /"forget" isn't an action/);
});

test("a request that is too long goes in halves, and a host that fails is passed over", async (t) => {
  const { host, seen } = await engine(t, ({ lines }) =>
    lines.length > 4 || lines.some((line) => line["large"] !== undefined) ? { status: 413 } : undefined,
  );
  const output = new OutputWorld(`elasticsearch { hosts => ["127.0.0.1:${await freePort()}", "${host}"] }`);
  t.after(() => output.writer.stop());
  const events = [{}, {}, { large: 1 }, {}, {}];
  await assert.rejects(output.write(events), { code: "unavailable", message: /can't be reached/ });
  assert.deepEqual(
    (await output.write(events))?.refused?.map(({ place }) => place),
    [2],
  );
  assert.ok(seen.every(({ lines }) => lines.length > 0));
});

for (const hosts of ['""', '[""]', '[" ", ""]', '["" ] remote => true'])
  test(`hosts without an address are refused: ${hosts}`, () => {
    assert.throws(
      () => new OutputWorld(`elasticsearch { hosts => ${hosts} }`),
      /no address is given.*leave it out/,
    );
  });

test("one text may name several hosts", async (t) => {
  const { host, seen } = await engine(t);
  const output = new OutputWorld(
    `elasticsearch { hosts => " 127.0.0.1:${await freePort()} http://${host}/b " }`,
  );
  t.after(() => output.writer.stop());
  await assert.rejects(output.write([{}]), { code: "unavailable", message: /can't be reached/ });
  await output.write([{}]);
  assert.deepEqual(
    seen.map(({ url }) => url.replace(/_bulk.*/, "")),
    ["/b/"],
  );
});

test("a whole request that is refused is tried again, and says what to look at", async (t) => {
  const { host } = await engine(t, () => ({
    status: 403,
    body: { error: { type: "security", reason: "no rights" } },
  }));
  const output = new OutputWorld(`elasticsearch { hosts => ["${host}"] }`);
  t.after(() => output.writer.stop());
  await assert.rejects(output.write([{}]), {
    code: "unavailable",
    message: /answered 403: security: no rights; check user and password/,
  });
});

test("a template is put before the first document, of the kind that the version knows, unless there is one", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "template-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "t.json"), '{"index_patterns":["a"]}');
  for (const [version, path] of [
    ["8.19.2", "/_index_template/logstash"],
    ["7.17.0", "/_template/logstash"],
  ]) {
    const { host, seen } = await engine(t, ({ method, url }) =>
      url === "/"
        ? { status: 200, body: { version: { number: version } } }
        : method === "HEAD"
          ? { status: 404 }
          : undefined,
    );
    const output = new OutputWorld(`elasticsearch { hosts => ["${host}"] template => "${folder}/t.json" }`);
    t.after(() => output.writer.stop());
    await output.write([{}]);
    await output.write([{}]);
    assert.deepEqual(
      seen.map(({ method, url }) => `${method} ${url}`),
      ["GET /", `HEAD ${path}`, `PUT ${path}`, "POST /_bulk", "POST /_bulk"],
    );
  }
});

test("this machine's port 9200 is this installation, and what can't be done is told with what to write instead", () => {
  for (const hosts of ['["localhost:9200"]', '"127.0.0.1"', '["http://localhost:9200", "[::1]:9200"]'])
    assert.throws(
      () => new OutputWorld(`elasticsearch { hosts => ${hosts} }`).write([{}]),
      /routes documents/,
    );
  const rows: [string, RegExp][] = [
    ['cloud_id => "x"', /hosts => \[/],
    ["ilm_enabled => true", /no rollover alias/],
    ['action => "remove"', /write index, create, update or delete/],
    ['action => "delete"', /document_id =>/],
    ['index => "<logs-{now/d}>"', /write dates as %\{\+yyyy/],
    ['script => "ctx.x = 1"', /no effect on documents of this installation/],
    ["remote => true", /nobody to send to/],
    ['hosts => "h:1" script => "ctx.n += %{n}"', /senders can run code; write params\.event\.FIELD/],
  ];
  for (const [options, expected] of rows)
    assert.throws(() => new OutputWorld(`elasticsearch { ${options} }`), expected, options);
  // An ingest pipeline takes what comes over HTTP.
  const piped = new OutputWorld('elasticsearch { hosts => "localhost:9200" pipeline => "p" }');
  assert.notEqual(piped.writer, undefined);
});

test("documents that would go to this hub without sign-in are refused where it is required", async () => {
  const plan = (options: string, signInPort?: number) => {
    const text = `output { elasticsearch { hosts => ["localhost:9200"] ${options} } }`;
    return planPipelines([{ id: "p", files: [{ path: "p.conf", text }] }], {}, signInPort);
  };
  const refused = { code: "settings_invalid", message: /requires sign-in.*api_key/s };
  await assert.rejects(plan('pipeline => "geo"', 9200), refused);
  await assert.rejects(plan("remote => true", 9200), refused);
  const allowed: [string, number?][] = [
    ['pipeline => "geo"'],
    ['pipeline => "geo"', 9201],
    ["", 9200],
    ['pipeline => "geo" api_key => "a:b"', 9200],
    ['pipeline => "geo" user => "a" password => "b"', 9200],
    ['pipeline => "geo" custom_headers => { "Authorization" => "Bearer a" }', 9200],
  ];
  for (const [options, port] of allowed) await plan(options, port);
});
