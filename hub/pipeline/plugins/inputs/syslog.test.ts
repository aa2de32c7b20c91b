import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { connect as connectTls } from "node:tls";
import { SYSLOG_FORMAT, SyslogCodec } from "#hub/pipeline/plugins/inputs/stream/syslog-codec.ts";
import { options } from "#proto/kit/options.ts";
import { convert } from "#proto/kit/schema.ts";
import { InputWorld, plain } from "#test/contract/input-runner.ts";
import { issueCertificate, issueOwnCertificate, makeAuthority } from "#test/harness/certificates.ts";
import { sendChunks, startInput } from "#test/support/pipeline/listening-input.ts";

test("syslog reads both forms by UDP and TCP, and keeps what is neither", async (t) => {
  const { world, port } = await startInput(
    t,
    (at) => `syslog { port => ${at} host => "127.0.0.1" ecs_compatibility => disabled }`,
  );
  await sendChunks(
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
  const { world, port } = await startInput(
    t,
    (at) =>
      `syslog { port => ${at} host => "127.0.0.1" ecs_compatibility => disabled codec => json syslog_field => "syslog" }`,
  );
  await sendChunks(
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
  const { world, port } = await startInput(
    t,
    (at) => `syslog { port => ${at} host => "127.0.0.1" codec => json }`,
  );
  const beside = { host: { os: { name: "x" } }, log: { file: { path: "/a" }, syslog: { version: 1 } } };
  await sendChunks(
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
  const { world, port } = await startInput(
    t,
    (at) => `syslog { port => ${at} host => "127.0.0.1" timezone => "Asia/Kolkata" proxy_protocol => true }`,
  );
  await sendChunks(port, "PROXY TCP4 192.0.2.1 198.51.100.1 5678 443\r\n<34>Oct 11 22:14:15 m su: one\n");
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
  const { world, port } = await startInput(t, (at) => `syslog { port => ${at} host => "127.0.0.1" }`);
  const counted = (message: string): string => `${Buffer.byteLength(message)} ${message}`;
  const rfc5424 = "<34>1 2024-05-01T10:00:00.5Z web-3 su 7 ID1 - line one\nline two";
  await sendChunks(
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
  const { world, port } = await startInput(t, (at) => `syslog { port => ${at} host => "127.0.0.1" }`);
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
  const { world, port } = await startInput(
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
  const { port } = await startInput(
    t,
    (at) => `syslog { port => ${at} host => "127.0.0.1" protocols => ["udp"] }`,
  );
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
