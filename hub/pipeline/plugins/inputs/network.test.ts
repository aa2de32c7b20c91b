import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { gzipSync } from "node:zlib";
import { encode } from "@msgpack/msgpack";
import { faultLog } from "#hub/pipeline/plugins/inputs/stream/listener.ts";
import { SYSLOG_FORMAT, SyslogCodec } from "#hub/pipeline/plugins/inputs/stream/syslog-codec.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { sendingLogger } from "#proto/kit/log.ts";
import { options } from "#proto/kit/options.ts";
import { convert } from "#proto/kit/schema.ts";
import { InputWorld, plain } from "#test/contract/input-runner.ts";
import { issueCertificate, issueOwnCertificate, makeAuthority } from "#test/harness/certificates.ts";
import { freePort } from "#test/harness/free-ports.ts";
import { TestClock } from "#test/support/agent/recording-output.ts";
import { DATAGRAMS, sendDatagrams } from "#test/support/kit/send-datagrams.ts";

async function run(
  t: TestContext,
  text: (port: number) => string,
): Promise<{ world: InputWorld; port: number }> {
  const world = new InputWorld();
  const port = await freePort();
  const component = world.make(text(port));
  await component.start();
  t.after(() => component.stop());
  return { world, port };
}

async function write(port: number, ...chunks: (string | Buffer)[]): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  for (const chunk of chunks) await new Promise((resolve) => socket.write(chunk, resolve));
  socket.end();
  await once(socket.resume(), "close");
}

test("tcp reads lines however they are cut into packets, the last one too, and says who sent them", async (t) => {
  const { world, port } = await run(t, (at) => `tcp { port => ${at} host => "127.0.0.1" }`);
  await write(port, "one\ntw", "o\r\n\nthr", "ee");
  await world.until(3);
  assert.deepEqual(world.messages, ["one", "two", "three"]);
  const { source } = plain(world.sent[0]!.event) as { source: { ip: string; port: number } };
  assert.equal(source.ip, "127.0.0.1");
  assert.equal(new Set(world.sent.map(({ key }) => key)).size, 1);
});

test("refusals of connections are in the log ten times a minute at most, then how many more there were", () => {
  const lines: string[] = [];
  const clock = new TestClock();
  const onFault = faultLog(
    { id: "tcp", clock, log: sendingLogger("info", (line) => lines.push(line)) },
    "a connection ended early",
  );
  for (let count = 0; count < 500; count++) onFault(new Error("no line of the PROXY protocol"));
  assert.equal(lines.length, 10);
  clock.ms += 60_000;
  onFault(new Error("another"));
  assert.equal(lines.length, 12);
  assert.match(lines[10]!, /"connections":490.*more connections ended early/);
  assert.match(lines[11]!, /another/);
});

test("tcp cuts a line that has no end, and reads what the PROXY protocol says", async (t) => {
  const { world, port } = await run(
    t,
    (at) =>
      `tcp { port => ${at} host => "127.0.0.1" ecs_compatibility => disabled proxy_protocol => true codec => json_lines }`,
  );
  await write(port, "PROXY TCP4 192.0.2.1 198.51.100.1 5678 443\r\n", '{"a":1}\n');
  await world.until(1);
  assert.deepEqual(plain(world.sent[0]!.event), {
    a: 1,
    host: "192.0.2.1",
    port: 5678,
    proxy_host: "198.51.100.1",
    proxy_port: 443,
  });
  assert.deepEqual(world.sent[0]!.event.metadata, { ip_address: "192.0.2.1" });
  const other = await run(t, (at) => `tcp { port => ${at} host => "127.0.0.1" }`);
  await write(other.port, Buffer.alloc(3 * 1024 * 1024, 0x61), "\n");
  await other.world.until(2);
  for (const { event } of other.world.sent) {
    assert.deepEqual(event.fields["tags"], ["line_cut"]);
    assert.ok(String(event.fields["message"]).length <= 2 * 1024 * 1024);
  }
  assert.equal(other.world.cuts, 1);
});

test("tcp reads binary values whatever bytes they consist of, and ends where it can't", async (t) => {
  for (const codec of ["msgpack", "fluent"]) {
    const { world, port } = await run(
      t,
      (at) => `tcp { port => ${at} host => "127.0.0.1" codec => ${codec} }`,
    );
    const value = (n: number): Buffer => {
      const record = { n, text: "a\n\r\nb" };
      return Buffer.from(encode(codec === "fluent" ? ["app.x", n, record] : record));
    };
    const bytes = Buffer.concat([value(10), value(0x0a0a), value(11)]);
    await write(port, bytes.subarray(0, 9), bytes.subarray(9, 20), bytes.subarray(20));
    await world.until(3);
    assert.deepEqual(
      world.sent.map(({ event }) => [event.fields["n"], event.fields["text"]]),
      [10, 0x0a0a, 11].map((n) => [n, "a\n\r\nb"]),
    );
    await write(port, Buffer.concat([value(12), Buffer.from([0xc1]), value(13)]));
    await write(port, value(14).subarray(0, 8));
    await world.until(6);
    const failed = `_${codec}parsefailure`;
    assert.deepEqual(
      world.sent
        .slice(3)
        .map(({ event: { fields } }) => fields["n"] ?? (fields["tags"] as string[]).includes(failed)),
      [12, true, true],
    );
  }
});

test("tcp with multiline sends what is held when nothing more comes", async (t) => {
  const { world, port } = await run(
    t,
    (at) =>
      `tcp { port => ${at} host => "127.0.0.1" codec => multiline { pattern => "^ " what => "previous" auto_flush_interval => 0.05 } }`,
  );
  const socket = connect(port, "127.0.0.1");
  socket.write("a\n b\nc\n");
  await world.until(2);
  assert.deepEqual(world.messages, ["a\n b", "c"]);
  socket.destroy();
});

test("tcp keeps the sender, a proxy and the subject of a certificate in the metadata", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-tcp-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const authority = makeAuthority(folder);
  const server = issueCertificate(folder, "server", authority, ["127.0.0.1"]);
  const client = issueCertificate(folder, "sender", authority, ["sender"]);
  const secured = await run(
    t,
    (at) =>
      `tcp { port => ${at} host => "127.0.0.1" ssl_enabled => true ssl_certificate => "${server.certificate}" ssl_key => "${server.key}" ssl_certificate_authorities => ["${authority.certificate}"] }`,
  );
  const [ca, key, cert] = [authority.certificate, client.key, client.certificate].map((path) =>
    readFileSync(path),
  );
  connectTls({ port: secured.port, host: "127.0.0.1", ca, key, cert }).end("one\n");
  await secured.world.until(1);
  const { tcp } = secured.world.sent[0]!.event.metadata["input"] as { tcp: Record<string, unknown> };
  assert.deepEqual(tcp["tls"], { client: { subject: "CN=sender" } });
  const { world, port } = await run(
    t,
    (at) => `tcp { port => ${at} host => "127.0.0.1" proxy_protocol => true }`,
  );
  await write(port, "PROXY TCP4 192.0.2.1 198.51.100.1 5678 443\r\none\n");
  await world.until(1);
  assert.deepEqual(world.sent[0]!.event.metadata["input"], {
    tcp: {
      source: { name: "192.0.2.1", ip: "192.0.2.1", port: 5678 },
      proxy: { ip: "198.51.100.1", port: 443 },
    },
  });
});

test("tcp as a client connects, and again when the connection ends", async (t) => {
  const server = createServer((socket) => socket.end("line\n")).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as { port: number };
  const world = new InputWorld();
  const component = world.make(`tcp { mode => client host => "127.0.0.1" port => ${port} }`);
  await component.start();
  await world.until(2);
  await component.stop();
  assert.deepEqual(new Set(world.messages), new Set(["line"]));
});

test("a port that is taken is told as such", async (t) => {
  const { port } = await run(t, (at) => `tcp { port => ${at} host => "127.0.0.1" }`);
  const second = new InputWorld().make(`tcp { port => ${port} host => "127.0.0.1" }`);
  await assert.rejects(second.start(), { code: "port_taken" });
  await second.stop();
});

test("udp makes an event of each datagram", async (t) => {
  const { world, port } = await run(t, (at) => `udp { port => ${at} host => "127.0.0.1" codec => json }`);
  const socket = createSocket("udp4");
  for (const n of [1, 2])
    await new Promise((resolve) => socket.send(`{"n":${n}}`, port, "127.0.0.1", resolve));
  await world.until(2);
  socket.close();
  assert.deepEqual(
    world.sent.map(({ event }) => plain(event)),
    [1, 2].map((n) => ({ n, host: { ip: "127.0.0.1" } })),
  );
});

test("udp drops datagrams while those that wait have too many events", async (t) => {
  const { world, port } = await run(t, (at) => `udp { port => ${at} host => "127.0.0.1" codec => line }`);
  const goOn = world.fill();
  const socket = createSocket("udp4");
  t.after(() => socket.close());
  const payload = "a\n".repeat(30_000);
  const send = () => new Promise((resolve) => socket.send(payload, port, "127.0.0.1", resolve));
  await send();
  await world.untilHeld();
  await send();
  await world.untilFailing(/the log takes them too slowly/);
  assert.equal(world.drops, 1);
  goOn();
  await world.until(30_000);
  assert.equal(world.sent.length, 30_000);
});

test("udp counts what the kernel drops while its buffer is full", {
  skip: process.platform !== "linux" && "only Linux tells what its kernel drops",
}, async (t) => {
  const world = new InputWorld();
  const port = await freePort();
  const input = world.make(`udp { port => ${port} host => "127.0.0.1" receive_buffer_bytes => 4096 }`);
  await input.start();
  t.after(() => input.stop());
  sendDatagrams(port);
  await world.until(1);
  await input.stop();
  assert.ok(world.drops > 300 && world.drops < DATAGRAMS, `${world.drops} dropped`);
});

test("udp takes no harm of datagrams that nest too deep, or whose own fields are in its way", async (t) => {
  const nested = `{"a":${"[".repeat(8_000)}${"]".repeat(8_000)}}`;
  const socket = createSocket("udp4");
  t.after(() => socket.close());
  for (const [codec, payload, expected] of [
    ["json", nested, { message: nested, tags: ["_jsonparsefailure"], host: { ip: "127.0.0.1" } }],
    ["json", '{"host":"web"}', { host: "web" }],
    [
      "es_bulk",
      `{"index":{}}\n${nested}\n`,
      { message: nested, tags: ["_jsonparsefailure"], host: { ip: "127.0.0.1" } },
    ],
  ] as const) {
    const { world, port } = await run(
      t,
      (at) => `udp { port => ${at} host => "127.0.0.1" codec => ${codec} }`,
    );
    await new Promise((resolve) => socket.send(payload, port, "127.0.0.1", resolve));
    await world.until(1);
    assert.deepEqual(plain(world.sent[0]!.event), expected);
  }
});

test("syslog reads both forms by UDP and TCP, and keeps what is neither", async (t) => {
  const { world, port } = await run(
    t,
    (at) => `syslog { port => ${at} host => "127.0.0.1" ecs_compatibility => disabled }`,
  );
  await write(
    port,
    "<34>Oct 11 22:14:15 mymachine su[230]: 'su root' failed\n",
    '<165>1 2003-10-11T22:14:15.003Z host.example evntslog 77 ID47 [x@1 a="b"] An event\n',
    "62 <13>1 2003-10-11T22:14:15.003Z host.example app - - - counted\n",
    "<191>no head\n",
  );
  await world.until(4);
  const [first, second, third, fourth] = world.sent.map(({ event }) => plain(event));
  const { timestamp: _time, ...rest } = first!;
  assert.deepEqual(rest, {
    message: "'su root' failed",
    priority: 34,
    facility: 4,
    severity: 2,
    facility_label: "security/authorization",
    severity_label: "Critical",
    logsource: "mymachine",
    program: "su",
    pid: "230",
    host: "127.0.0.1",
  });
  assert.deepEqual(
    [second!["message"], second!["structured_data"], second!["msgid"]],
    ["An event", { "x@1": { a: "b" } }, "ID47"],
  );
  assert.equal(world.sent[1]!.event.timeMs, Date.UTC(2003, 9, 11, 22, 14, 15, 3));
  assert.equal(third!["message"], "counted");
  assert.deepEqual(
    [fourth!["message"], fourth!["severity"], fourth!["tags"]],
    ["no head", 7, ["_grokparsefailure_sysloginput"]],
  );
  const socket = createSocket("udp4");
  await new Promise((resolve) => socket.send("<34>Oct 11 22:14:15 m su: by udp", port, "127.0.0.1", resolve));
  await world.until(5);
  socket.close();
  assert.equal(world.messages[4], "by udp");
});

test("syslog reads a line within a message of another codec", async (t) => {
  const { world, port } = await run(
    t,
    (at) =>
      `syslog { port => ${at} host => "127.0.0.1" ecs_compatibility => disabled codec => json syslog_field => "syslog" }`,
  );
  await write(
    port,
    '{"message":"m","syslog":"<34>Oct 11 22:14:15 mymachine su[230]: failed","a":1}\n',
    '{"syslog":"<191>no head"}\n',
    '{"message":"none"}\n',
  );
  await world.until(3);
  const [first, second, third] = world.sent.map(({ event }) => plain(event));
  assert.partialDeepStrictEqual(first, {
    message: "m",
    syslog: "failed",
    a: 1,
    severity: 2,
    program: "su",
    pid: "230",
  });
  assert.equal(first!["tags"], undefined);
  assert.partialDeepStrictEqual(second, {
    syslog: "no head",
    severity: 7,
    tags: ["_grokparsefailure_sysloginput"],
  });
  assert.partialDeepStrictEqual(third, { message: "none", tags: ["_grokparsefailure_sysloginput"] });
});

test("syslog keeps what stands beside a line in tables of the same names", async (t) => {
  const { world, port } = await run(t, (at) => `syslog { port => ${at} host => "127.0.0.1" codec => json }`);
  const beside = { host: { os: { name: "x" } }, log: { file: { path: "/a" }, syslog: { version: 1 } } };
  await write(
    port,
    `${JSON.stringify({ ...beside, message: "<34>Oct 11 22:14:15 m su: failed" })}\n`,
    `${JSON.stringify({ ...beside, message: "no head", "@timestamp": "2020-01-02T03:04:05.000Z" })}\n`,
  );
  await world.until(2);
  const [read, headless] = world.sent.map(({ event }) => plain(event));
  assert.partialDeepStrictEqual(read, {
    message: "failed",
    host: { os: { name: "x" }, name: "m", hostname: "m" },
    log: { file: { path: "/a" }, level: "critical", syslog: { version: 1, priority: 34 } },
  });
  assert.partialDeepStrictEqual(headless, { ...beside, message: "no head" });
  assert.equal(world.sent[1]!.event.timeMs, Date.UTC(2020, 0, 2, 3, 4, 5));
});

test("syslog joins no lines, as a message stands by itself", () => {
  const text = 'syslog { codec => multiline { pattern => "^ " what => previous } }';
  assert.throws(() => new InputWorld().make(text), /join lines with input tcp/);
});

test("syslog reads times in the zone that it is told, and from behind a load balancer", async (t) => {
  const { world, port } = await run(
    t,
    (at) => `syslog { port => ${at} host => "127.0.0.1" timezone => "Asia/Kolkata" proxy_protocol => true }`,
  );
  await write(port, "PROXY TCP4 192.0.2.1 198.51.100.1 5678 443\r\n<34>Oct 11 22:14:15 m su: one\n");
  await world.until(1);
  const { event } = world.sent[0]!;
  const time = new Date(event.timeMs);
  assert.equal(event.toJson().includes('"ip":"192.0.2.1"'), true);
  assert.deepEqual(
    [time.getUTCMonth(), time.getUTCDate(), time.getUTCHours(), time.getUTCMinutes()],
    [9, 11, 16, 44],
  );
});

test("syslog keeps the sender's time and host, a relay as the observer, and cuts messages by their length", async (t) => {
  const { world, port } = await run(t, (at) => `syslog { port => ${at} host => "127.0.0.1" }`);
  const counted = (message: string): string => `${Buffer.byteLength(message)} ${message}`;
  const rfc5424 = "<34>1 2024-05-01T10:00:00.5Z web-3 su 7 ID1 - line one\nline two";
  await write(
    port,
    `${counted(rfc5424)}${counted("<13>1 2024-05-01T10:00:01Z web-4 su - - - b")}<13>no head\n`,
  );
  await world.until(3);
  const found = world.sent.map(({ event }) => {
    const { host, observer, message } = event.fields as Record<string, Record<string, unknown>>;
    return [message, host?.["name"], observer?.["ip"]];
  });
  assert.deepEqual(found, [
    ["line one\nline two", "web-3", "127.0.0.1"],
    ["b", "web-4", "127.0.0.1"],
    ["no head", "127.0.0.1", undefined],
  ]);
  assert.deepEqual(
    world.sent.slice(0, 2).map(({ event }) => new Date(event.timeMs).toISOString()),
    ["2024-05-01T10:00:00.500Z", "2024-05-01T10:00:01.000Z"],
  );
});

test("syslog over TCP takes messages that end with a zero byte, as Python writes them", async (t) => {
  const { world, port } = await run(t, (at) => `syslog { port => ${at} host => "127.0.0.1" }`);
  const socket = connect({ port, host: "127.0.0.1" });
  t.after(() => socket.destroy());
  await once(socket, "connect");
  socket.write("<14>one\0<11>tw");
  socket.write("o\0");
  await world.until(2);
  assert.deepEqual(world.messages, ["one", "two"]);
});

test("syslog over TLS takes one frame after the other, only from clients with a certificate where one is required", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-syslog-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const authority = makeAuthority(folder);
  const files = issueCertificate(folder, "hub", authority, ["127.0.0.1"]);
  const { world, port } = await run(
    t,
    (at) =>
      `syslog { port => ${at} host => "127.0.0.1" ssl_enabled => true ssl_certificate => "${files.certificate}" ssl_key => "${files.key}" ssl_certificate_authorities => ["${authority.certificate}"] ssl_client_authentication => "required" }`,
  );
  const ca = readFileSync(authority.certificate);
  const stranger = connectTls({ port, host: "127.0.0.1", ca });
  stranger.on("error", () => undefined);
  await new Promise((resolve) => stranger.resume().once("close", resolve));
  const frame = '<34>1 2024-05-01T10:00:00Z web-3 su 7 ID1 [x@1 a="b"] one\nline';
  const [cert, key] = [readFileSync(files.certificate), readFileSync(files.key)];
  const socket = connectTls({ port, host: "127.0.0.1", ca, cert, key });
  await once(socket, "secureConnect");
  const bytes = Buffer.from(`${Buffer.byteLength(frame)} ${frame}`.repeat(2));
  for (const byte of bytes) socket.write(Buffer.from([byte]));
  await world.until(2);
  socket.destroy();
  assert.deepEqual(world.messages, ["one\nline", "one\nline"]);
  const { log } = world.sent[0]!.event.fields as { log: { syslog: Record<string, unknown> } };
  assert.deepEqual(log.syslog["structured_data"], { "x@1": { a: "b" } });
});

test("syslog keeps repeated parameters and takes what devices write around messages", () => {
  const codec = new SyslogCodec(
    convert(options(SYSLOG_FORMAT), {}) as ConstructorParameters<typeof SyslogCodec>[0],
  );
  const [event] = codec.decode(Buffer.from('<34>1 - h a - - [x@1 ip="1"  ip="2" n="3" ][y] text\r\n\0'), 0);
  const { message, log } = event!.fields as { message: string; log: { syslog: Record<string, unknown> } };
  assert.equal(message, "text");
  assert.deepEqual(log.syslog["structured_data"], { "x@1": { ip: ["1", "2"], n: "3" }, y: {} });
});

test("syslog reads thousands of repeated parameters in linear time", () => {
  const codec = new SyslogCodec(
    convert(options(SYSLOG_FORMAT), {}) as ConstructorParameters<typeof SyslogCodec>[0],
  );
  const before = process.cpuUsage();
  const [event] = codec.decode(Buffer.from(`<34>1 - h a - - [x${' a=""'.repeat(12_000)}] text`), 0);
  const { user, system } = process.cpuUsage(before);
  // In quadratic time it takes more than ten seconds.
  assert.ok(user + system < 2_000_000, `${user + system} µs`);
  const { log } = event!.fields as { log: { syslog: Record<string, { x: { a: string[] } }> } };
  assert.equal(log.syslog["structured_data"]!.x.a.length, 12_000);
});

test("syslog opens the transports it is told, and refuses datagrams beside TLS", async (t) => {
  const { port } = await run(t, (at) => `syslog { port => ${at} host => "127.0.0.1" protocols => ["udp"] }`);
  const socket = connect(port, "127.0.0.1");
  const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException];
  assert.equal(error.code, "ECONNREFUSED");
  const { certificate, key } = issueOwnCertificate(tmpdir(), `tailrace-${process.pid}`, ["127.0.0.1"]);
  for (const file of [certificate, key]) t.after(() => rmSync(file));
  assert.throws(
    () =>
      new InputWorld().make(
        `syslog { ssl_enabled => true ssl_certificate => "${certificate}" ssl_key => "${key}" protocols => ["udp"] }`,
      ),
    /datagrams aren't encrypted/,
  );
});

test("http answers when events are in the log, by the body's type, and keeps passwords out of them", async (t) => {
  const { world, port } = await run(
    t,
    (at) =>
      `http { port => ${at} host => "127.0.0.1" user => "u" password => "p" max_content_length => 1000 response_code => 202 }`,
  );
  const headers = { authorization: `Basic ${Buffer.from("u:p").toString("base64")}` };
  const post = async (body: string | Buffer, more: Record<string, string> = {}): Promise<number> => {
    const answer = await fetch(`http://127.0.0.1:${port}/path?q=1`, {
      method: "POST",
      body: body as string,
      headers: { ...headers, ...more },
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  assert.equal(await post('[{"a":1},{"a":2}]', { "content-type": "application/json" }), 202);
  assert.equal(await post("plain text", { "content-type": "text/plain" }), 202);
  assert.equal(
    await post(gzipSync('{"a":3}'), {
      "content-type": "application/json; charset=utf-8",
      "content-encoding": "gzip",
    }),
    202,
  );
  assert.equal(await post("x".repeat(1001)), 413);
  assert.equal(await post(gzipSync(Buffer.alloc(100_000)), { "content-encoding": "gzip" }), 413);
  assert.equal(await post("x", { "content-encoding": "gzip" }), 400);
  assert.equal(await post("x", { authorization: "Basic eDp5" }), 401);
  assert.deepEqual(
    world.sent.map(({ event }) => event.fields["a"] ?? event.fields["message"]),
    [1, 2, "plain text", 3],
  );
  const event = plain(world.sent[0]!.event);
  assert.deepEqual([event["host"], (event["url"] as { path: string }).path], [{ ip: "127.0.0.1" }, "/path"]);
  assert.doesNotMatch(JSON.stringify([event, world.sent[0]!.event.metadata]), /Basic/);
});

test("http names headers as existing pipelines read them, and reads bodies in the encoding of their type", async (t) => {
  for (const [ecs, field] of [
    ["disabled", "headers"],
    ["v8", "[@metadata][input][http][request][headers]"],
  ] as const) {
    const { world, port } = await run(
      t,
      (at) => `http { port => ${at} host => "127.0.0.1" ecs_compatibility => ${ecs} }`,
    );
    const answer = await fetch(`http://127.0.0.1:${port}/meh.json?q=1`, {
      method: "POST",
      body: Buffer.from('{"msg":"A Coru\u00f1a"}', "latin1"),
      headers: {
        "content-type": "application/json; charset=ISO-8859-1",
        "user-agent": "x",
        "x-forwarded-for": "1.2.3.4",
      },
    });
    assert.equal(await answer.text(), "ok");
    const { event } = world.sent[0]!;
    assert.equal(event.fields["msg"], "A Coruña");
    assert.partialDeepStrictEqual(event.get(fieldReference(field)), {
      content_type: "application/json; charset=ISO-8859-1",
      content_length: "18",
      http_accept: "*/*",
      http_host: `127.0.0.1:${port}`,
      http_user_agent: "x",
      x_forwarded_for: "1.2.3.4",
      request_method: "POST",
      request_path: "/meh.json?q=1",
      http_version: "HTTP/1.1",
    });
    if (ecs === "v8")
      assert.deepEqual(event.fields["url"], { domain: "127.0.0.1", port, path: "/meh.json", query: "q=1" });
  }
});

test("http makes an event of a request without a body, unless its type has a codec that reads none", async (t) => {
  const { world, port } = await run(t, (at) => `http { port => ${at} host => "127.0.0.1" }`);
  const url = `http://127.0.0.1:${port}/log?levelname=INFO&msg=a+b`;
  for (const type of ["text/plain", "application/json", "application/x-ndjson"])
    assert.equal((await fetch(url, { headers: { "content-type": type } })).status, 200);
  assert.deepEqual(world.messages, [""]);
  assert.partialDeepStrictEqual(world.sent[0]!.event.fields, {
    http: { request: { method: "GET" } },
    url: { path: "/log", query: "levelname=INFO&msg=a+b" },
  });
});

for (const [codec, type, body] of [
  ['plain { charset => "ISO-8859-1" }', "text/plain; charset=ISO-8859-1", Buffer.from("\u00f1", "latin1")],
  ['plain { charset => "ISO-8859-1" }', "text/plain; charset=utf-8", Buffer.from("\u00f1", "latin1")],
  ["msgpack", "application/msgpack; charset=binary", encode({ message: "\u00f1" })],
  ["plain", "text/plain; charset=ISO-8859-1", Buffer.from("\u00f1", "latin1")],
] as const)
  test(`http reads a body by its type only where the codec reads UTF-8: ${codec}, ${type}`, async (t) => {
    const { world, port } = await run(
      t,
      (at) => `http { port => ${at} host => "127.0.0.1" codec => ${codec} }`,
    );
    await fetch(`http://127.0.0.1:${port}/`, {
      method: "POST",
      body: Buffer.from(body),
      headers: { "content-type": type },
    });
    assert.deepEqual(world.messages, ["ñ"]);
  });

test("heartbeat and generator number their events under the name that is asked for", async () => {
  const rows: [input: string, events: object[]][] = [
    [
      "heartbeat { interval => 0.001 count => 2 sequence => sequence }",
      [
        { message: "ok", clock: 1 },
        { message: "ok", clock: 2 },
      ],
    ],
    [
      "heartbeat { interval => 0.001 count => 1 sequence => sequence message => epoch ecs_compatibility => v8 }",
      [{ message: "epoch", event: { sequence: 1 } }],
    ],
    ["heartbeat { count => 1 message => epoch ecs_compatibility => v1 }", [{ message: "epoch" }]],
    [
      'generator { lines => ["a", "b"] count => 2 }',
      [0, 0, 1, 1].map((sequence, place) => ({ message: "ab"[place % 2], event: { sequence } })),
    ],
    [
      "generator { message => line count => 1 ecs_compatibility => disabled }",
      [{ message: "line", sequence: 0 }],
    ],
  ];
  for (const [text, events] of rows) {
    const world = new InputWorld();
    const input = world.make(text);
    await input.start();
    await world.until(events.length);
    await input.stop();
    assert.deepEqual(
      world.sent.map(({ event }) => plain(event)),
      events,
      text,
    );
  }
});

test("heartbeat, pipeline and dead_letter_queue make the events they are told", async () => {
  const beat = new InputWorld();
  const heart = beat.make("heartbeat { interval => 0.001 count => 2 message => sequence }");
  await heart.start();
  await beat.until(2);
  await heart.stop();
  assert.deepEqual(
    beat.sent.map(({ event }) => event.fields["clock"]),
    [1, 2],
  );

  const world = new InputWorld();
  const input = world.make('pipeline { address => "a1" }');
  await input.start();
  const record = (sourceKey: string, place: number) => ({
    sourceKey,
    place,
    body: Buffer.from(`{"p":${place}}`),
    timeMs: 5,
  });
  await world.handlers.get("a1")!([record("s", 7), record("", 0), record("s", 9)]);
  await input.stop();
  assert.deepEqual(
    world.sent.map(({ key, offset, event }) => [key, offset, event.fields["p"]]),
    [
      ["s", 7, 7],
      ["s", 9, 9],
      ["other", undefined, 0],
    ],
  );

  const dead = new InputWorld();
  dead.letters.push(
    { sequence: 3, reason: "old", source: "x", timeMs: 1, data: Buffer.from("{}") },
    {
      sequence: 4,
      reason: "refused",
      source: "elasticsearch",
      timeMs: Date.UTC(2026, 1, 1),
      data: Buffer.from('{"m":1}'),
    },
  );
  const letters = dead.make('dead_letter_queue { start_timestamp => "2026-01-01T00:00:00Z" }');
  await letters.start();
  await dead.until(1);
  await letters.stop();
  assert.deepEqual(plain(dead.sent[0]!.event), { m: 1 });
  assert.equal((dead.sent[0]!.event.metadata["dead_letter_queue"] as { reason: string }).reason, "refused");
  assert.equal(dead.state.get("sequence"), 4);
});
