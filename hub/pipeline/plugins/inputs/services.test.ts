import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseSchedule } from "#hub/pipeline/formats/schedule.ts";
import { InputWorld, plain } from "#test/contract/input-runner.ts";
import { issueCertificate, makeAuthority } from "#test/harness/certificates.ts";
import { freePort } from "#test/harness/free-ports.ts";

async function service(
  t: TestContext,
  answer: (url: string, headers: IncomingMessage["headers"]) => string | number,
): Promise<string> {
  const server = createServer((request, response) => {
    const result = answer(request.url ?? "", request.headers);
    if (typeof result === "number") response.writeHead(result).end();
    else response.writeHead(200, { "Content-Type": "application/json" }).end(result);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("http_poller asks on a schedule, follows pages, remembers how far it came and sends its account's token", async (t) => {
  const seen: string[] = [];
  const base = await service(t, (url, headers) => {
    seen.push(`${url} ${headers.authorization}`);
    return url.includes("page=2")
      ? '{"items":[{"id":3}]}'
      : '{"items":[{"id":1},{"id":2}],"next":"/list?page=2"}';
  });
  const world = new InputWorld();
  const text = `http_poller { urls => { "api" => { url => "${base}/list" connection => "acc" } } schedule => { in => "1ms" }
    items => "items" next_page => "next" cursor => "id" cursor_parameter => "since" }`;
  for (const _ of [1, 2]) {
    const input = world.make(text);
    await input.start();
    await world.until(_ * 3);
    await input.stop();
  }
  assert.deepEqual(
    world.sent.slice(0, 3).map(({ event }) => event.fields["id"]),
    [1, 2, 3],
  );
  assert.equal(world.sent[0]!.event.metadata["name"], "api");
  assert.deepEqual(seen.slice(0, 3), [
    "/list Bearer token-of-acc",
    "/list?page=2 Bearer token-of-acc",
    "/list?since=3 Bearer token-of-acc",
  ]);
});

test("http_poller trusts the authority that it is given", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-poller-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const authority = makeAuthority(folder);
  const own = issueCertificate(folder, "server", authority, ["localhost"]);
  const files = { cert: readFileSync(own.certificate), key: readFileSync(own.key) };
  const server = createHttps(files, (_, response) => response.end('{"n":1}')).listen(0, "localhost");
  await once(server, "listening");
  t.after(() => server.close());
  const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
  const world = new InputWorld();
  for (const [options, failed] of [
    ["", ["_http_request_failure"]],
    [`cacert => "${authority.certificate}"`, undefined],
    ['ssl_verification_mode => "none"', undefined],
  ] as const) {
    const before = world.sent.length;
    const input = world.make(
      `http_poller { urls => { "a" => "${url}" } schedule => { in => "1ms" } ${options} }`,
    );
    await input.start();
    await world.until(before + 1);
    await input.stop();
    assert.deepEqual(world.sent[before]!.event.fields["tags"], failed, options);
  }
});

test("http_poller asks once more with a new token where the first is refused, and not again", async (t) => {
  const seen: (string | undefined)[] = [];
  const base = await service(t, (_url, headers) => {
    seen.push(headers.authorization);
    return headers.authorization === "Bearer renewed-token-of-acc" ? '{"id":1}' : 401;
  });
  const world = new InputWorld();
  const input = world.make(
    `http_poller { urls => { "api" => "${base}" } connection => "acc" schedule => { in => "1ms" } }`,
  );
  const lost = world.make(
    `http_poller { urls => { "api" => "${base}" } connection => "lost" schedule => { in => "1ms" } }`,
  );
  for (const each of [input, lost]) await each.start();
  await world.until(2);
  for (const each of [input, lost]) await each.stop();
  assert.deepEqual(
    seen.filter((each) => each?.endsWith("acc")),
    ["Bearer token-of-acc", "Bearer renewed-token-of-acc"],
  );
  assert.deepEqual(
    seen.filter((each) => each?.endsWith("lost")),
    ["Bearer token-of-lost", "Bearer renewed-token-of-lost"],
  );
  assert.match(world.failures.join(), /answered 401/);
});

test("http_poller sends a token neither along a redirect nor to the host of a next page", async (t) => {
  const seen: (string | undefined)[] = [];
  const other = await service(t, (_url, headers) => {
    seen.push(headers.authorization);
    return '{"id":2}';
  });
  const base = await service(t, () => JSON.stringify({ id: 1, next: `${other}/next` }));
  const redirecting = createServer((_request, response) =>
    response.writeHead(302, { Location: other }).end(),
  );
  redirecting.listen(0, "127.0.0.1");
  await once(redirecting, "listening");
  t.after(() => redirecting.close());
  const from = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}`;
  const world = new InputWorld();
  const input = world.make(
    `http_poller { urls => { "pages" => "${base}" "moved" => "${from}" } connection => "acc" next_page => "next" schedule => { in => "1ms" } }`,
  );
  await input.start();
  await world.until(3);
  await input.stop();
  assert.deepEqual(seen, [undefined]);
  assert.match(world.failures.join(), /answered 302/);
  assert.throws(
    () =>
      world.make(
        `http_poller { urls => { "a" => "http://api.example.com/" } connection => "acc" schedule => { in => "1ms" } }`,
      ),
    /doesn't go over http/,
  );
});

test("http_poller gives a service the pause it asks for", async (t) => {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    response.writeHead(429, { "Retry-After": "3600" }).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const other = await service(t, () => '{"id":1}');
  const world = new InputWorld();
  const input = world.make(
    `http_poller { urls => { "busy" => "${base}" "idle" => "${other}" } schedule => { every => "20ms" } }`,
  );
  await input.start();
  await world.until(4);
  await input.stop();
  assert.equal(asked, 1);
});

test("a service that fails is told as an event, with no secret in it", async (t) => {
  const base = await service(t, () => 500);
  const world = new InputWorld();
  const input = world.make(
    `http_poller { urls => { "api" => "${base}/x?key=secret" } user => user1 password => pw1 items => "list" schedule => { in => "1ms" } }`,
  );
  await input.start();
  await world.until(1);
  await input.stop();
  const event = plain(world.sent[0]!.event);
  assert.deepEqual(event["tags"], ["_http_request_failure"]);
  assert.doesNotMatch(JSON.stringify(event), /secret|pw1/);
  assert.match(world.failures.at(-1) ?? "", /answered 500/);
});

test("a failure that goes on is told as an event at the first and the tenth time, and counted meanwhile", async (t) => {
  const base = await service(t, (url) => (url === "/well" ? "{}" : 500));
  const world = new InputWorld();
  const input = world.make(
    `http_poller { urls => { "ill" => "${base}/ill" "well" => "${base}/well" } schedule => { every => "2ms" } target => "doc" items => "list" }`,
  );
  await input.start();
  await world.untilFailing(/^ill: .*answered 500 \(12 times in a row\)$/);
  await input.stop();
  const failures = world.sent.flatMap(({ event }) => event.fields["http_request_failure"] ?? []);
  assert.partialDeepStrictEqual(failures, [{ count: 1 }, { count: 10 }]);
  assert.equal(failures.length, 2);
  assert.ok(!world.failures.includes(null), "a service that works doesn't hide one that fails");
});

test("http_poller makes an event of each answer of a plain request, whatever its status and length", async (t) => {
  const base = await service(t, (url) => (url === "/ill" ? 503 : url === "/none" ? "" : '{"a":1}'));
  const read = async (path: string, ecs: string) => {
    const world = new InputWorld();
    const input = world.make(
      `http_poller { urls => { "n" => "${base}${path}" } schedule => { in => "1ms" } metadata_target => "meta" ecs_compatibility => ${ecs} }`,
    );
    await input.start();
    await world.until(1);
    await input.stop();
    return { event: plain(world.sent[0]!.event), failures: world.failures };
  };
  const ill = await read("/ill", "disabled");
  assert.partialDeepStrictEqual(ill.event["meta"], {
    name: "n",
    code: 503,
    response_message: "Service Unavailable",
    times_retried: 0,
    request: { method: "GET", url: `${base}/ill` },
  });
  assert.equal(ill.event["tags"], undefined);
  assert.match(ill.failures.at(-1) ?? "", /answered 503/);
  const none = await read("/none", "disabled");
  assert.deepEqual(Object.keys(none.event), ["meta"]);
  const { event } = await read("", "v8");
  assert.equal(event["a"], 1);
  assert.partialDeepStrictEqual(event["meta"], {
    input: {
      http_poller: {
        request: { name: "n", original: { method: "GET", url: base }, retry_count: 0 },
        response: { status_code: 200, status_message: "OK" },
      },
    },
  });
});

test("http_poller reports failed requests by the names that are asked for", async () => {
  const gone = `http://127.0.0.1:${await freePort()}`;
  const world = new InputWorld();
  const failing = world.make(
    `http_poller { urls => { "n" => "${gone}" } schedule => { in => "1ms" } ecs_compatibility => v8 }`,
  );
  await failing.start();
  await world.until(1);
  await failing.stop();
  const event = plain(world.sent[0]!.event);
  assert.partialDeepStrictEqual(event, {
    tags: ["_http_request_failure"],
    url: { full: gone },
    http: { request: { method: "GET" } },
  });
  assert.deepEqual([event["http_request_failure"], typeof event["error"]], [undefined, "object"]);
});

for (const [name, target, options, expected] of [
  ["a table auth", 'auth => { user => "u1" password => "p1" }', "", "u1:p1"],
  ["a key as the user", 'user => "key"', "", "key:"],
  ["a key as the user of all", "", 'user => "key"', "key:"],
  ["a user of its own and the password of all", 'user => "u1"', 'password => "p2"', "u1:p2"],
] as const)
  test(`http_poller signs in with ${name}`, async (t) => {
    const seen: (string | undefined)[] = [];
    const base = await service(t, (_, { authorization }) => {
      seen.push(authorization);
      return "{}";
    });
    const world = new InputWorld();
    const input = world.make(
      `http_poller { urls => { "n" => { url => "${base}" ${target} } } ${options} schedule => { in => "1ms" } }`,
    );
    await input.start();
    await world.until(1);
    await input.stop();
    assert.deepEqual(seen, [`Basic ${Buffer.from(expected).toString("base64")}`]);
  });

test("http_poller warns of a password without a user", () => {
  const target = '"n" => { url => "http://127.0.0.1" password => "p1" }';
  assert.throws(
    () => new InputWorld().make(`http_poller { urls => { ${target} } schedule => { in => "1s" } }`),
    /a password without a user isn't sent/,
  );
});

test("schedules are cron lines, intervals and single times", () => {
  const now = Date.UTC(2026, 0, 1, 10, 2, 30);
  assert.equal(parseSchedule({ every: "5m" })(now), 300_000);
  assert.equal(parseSchedule({ cron: "*/5 * * * * UTC" })(now), 150_000);
  assert.equal(parseSchedule("0 11 * * * Etc/UTC")(now), 3_450_000);
  const once = parseSchedule({ at: "2026-01-01T10:03:00Z" });
  assert.deepEqual([once(now), once(now)], [30_000, undefined]);
  assert.throws(() => parseSchedule({ sometimes: "x" }), /a schedule is/);
  assert.throws(() => parseSchedule("not a line"), /isn't a cron line/);
});

/** ResourceLogs of one record, as the JSON form has them. */
const LOGS = {
  resourceLogs: [
    {
      resource: { attributes: [{ key: "service.name", value: { stringValue: "shop" } }] },
      scopeLogs: [
        {
          scope: { name: "lib" },
          logRecords: [
            {
              timeUnixNano: "1700000000123000000",
              severityNumber: 17,
              body: { stringValue: "it broke" },
              attributes: [
                { key: "n", value: { intValue: "5" } },
                { key: "l", value: { arrayValue: { values: [{ boolValue: true }] } } },
              ],
              traceId: "5b8efff798038103d269b633813fc60c",
            },
          ],
        },
      ],
    },
  ],
};

/** The same record as protobuf. */
function encoded(): Buffer {
  const field = (number: number, bytes: Buffer | string): Buffer => {
    const body = Buffer.from(bytes);
    return Buffer.concat([Buffer.from([(number << 3) | 2, body.length]), body]);
  };
  const time = Buffer.alloc(9);
  time[0] = (1 << 3) | 1;
  time.writeBigUInt64LE(1_700_000_000_123_000_000n, 1);
  const pair = (key: string, value: Buffer): Buffer => Buffer.concat([field(1, key), field(2, value)]);
  const record = Buffer.concat([
    time,
    Buffer.from([2 << 3, 17]),
    field(5, field(1, "it broke")),
    field(6, pair("n", Buffer.from([3 << 3, 5]))),
    field(6, pair("l", field(5, field(1, Buffer.from([2 << 3, 1]))))),
    field(9, Buffer.from("5b8efff798038103d269b633813fc60c", "hex")),
  ]);
  const scope = Buffer.concat([field(1, field(1, "lib")), field(2, record)]);
  return field(
    1,
    Buffer.concat([field(1, field(1, pair("service.name", field(1, "shop")))), field(2, scope)]),
  );
}

test("otlp reads the same record as JSON and as protobuf, and refuses what is neither", async (t) => {
  const world = new InputWorld();
  const port = await freePort();
  const input = world.make(`otlp { port => ${port} host => "127.0.0.1" }`);
  await input.start();
  t.after(() => input.stop());
  const post = async (body: string | Buffer, type: string, path = "/v1/logs"): Promise<number> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      body: body as string,
      headers: { "content-type": type },
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  assert.equal(await post(JSON.stringify(LOGS), "application/json"), 200);
  assert.equal(await post(encoded(), "application/x-protobuf"), 200);
  assert.equal(await post("nope", "application/json"), 400);
  assert.equal(await post(Buffer.from([0xff, 0xff]), "application/x-protobuf"), 400);
  assert.equal(await post("{}", "application/json", "/v1/traces"), 404);
  assert.equal(world.sent.length, 2);
  for (const { event } of world.sent) {
    assert.equal(event.timeMs, 1_700_000_000_123);
    assert.deepEqual(plain(event), {
      message: "it broke",
      log: { level: "error" },
      service: { name: "shop" },
      attributes: { n: 5, l: [true] },
      resource: { attributes: { "service.name": "shop" } },
      scope: { name: "lib" },
      trace: { id: "5b8efff798038103d269b633813fc60c" },
    });
  }
});
