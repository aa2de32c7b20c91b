import assert from "node:assert/strict";
import { createSocket, Socket } from "node:dgram";
import { once } from "node:events";
import { connect } from "node:net";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { InputPlugin } from "#agent/contract/input.ts";
import { Framer } from "#agent/inputs/streams/framing.ts";
import { withDeadline } from "#proto/kit/lifecycle.ts";
import { convert } from "#proto/kit/schema.ts";
import { LogBatch } from "#proto/messages.ts";
import { BatchEncoder, encodeSource } from "#proto/raw-encoder.ts";
import { issueOwnCertificate } from "#test/harness/certificates.ts";
import { type TestContext, testContext } from "#test/support/agent/recording-output.ts";
import { replaceMethod } from "#test/support/kit/replaced-method.ts";
import { DATAGRAMS, sendDatagrams } from "#test/support/kit/send-datagrams.ts";
import { StdinInput } from "./stdin.ts";
import { syslogInput } from "./syslog.ts";
import { TcpInput, tcpInput } from "./tcp.ts";
import { UdpInput, udpInput } from "./udp.ts";

/** Returns the messages sent so far, decoded by the generated code. */
function messages(context: TestContext): string[] {
  const encoder = new BatchEncoder({
    agentId: "",
    agentName: "",
    agentVersion: "",
    hostName: "",
    fieldsJson: new Uint8Array(),
  });
  return context.output.sent.flatMap(({ data, source }) => {
    const block = {
      from: 0,
      to: 1,
      readTimeMs: 0,
      lastLineOpen: false,
      firstLineContinued: false,
      compression: 0,
      dataBytes: 0,
    };
    const body = { buffer: data, start: 0, end: data.length, events: true };
    const batch = LogBatch.decode(encoder.encode(1, 1, encodeSource(source), block, body));
    return (batch.block?.events ?? []).map(({ message }) => Buffer.from(message ?? []).toString());
  });
}

function settings<T>(plugin: InputPlugin, given: object): T {
  return convert(plugin.schema, structuredClone(given)) as T;
}

for (const [name, chunks, octetCounting, expected] of [
  ["lines in one chunk", ["a\nb\r\n\nc"], false, ["a", "b", "c"]],
  ["a line over chunks of one byte", "one\ntwo\n".split(""), false, ["one", "two"]],
  ["a line longer than the limit", ["0123456789ABC\nx\n"], false, ["0123456789", "ABC", "x"]],
  ["octet counts", ["5 ab\nc", "d3 x\ny", "1 z"], true, ["ab\ncd", "x\ny", "z"]],
  ["zero bytes", ["<1>a\0<2>", "b\0", "<3>c"], true, ["<1>a", "<2>b", "<3>c"]],
  ["an octet count cut in its middle", ["1", "0", " 0123", "456789"], true, ["0123456789"]],
  ["newlines where counts are possible", ["<13>a\n<14>b\n2 cd"], true, ["<13>a", "<14>b", "cd"]],
  [
    "a counted message longer than the limit, and the next one",
    ["25 <0123456789ABCDEFGHIJ", "KLMN5 <abcd"],
    true,
    ["<012345678", "9ABCDEFGHI", "JKLMN", "<abcd"],
  ],
  ["a number that isn't a count", ["200", " ", "OK\n<1>b\n"], true, ["200 OK", "<1>b"]],
  ["digits that aren't a count", ["2026-11-21 x\n"], true, ["2026-11-21", " x"]],
] as const) {
  test(`a stream is cut into messages: ${name}`, () => {
    const framer = new Framer({ maxBytes: 10, octetCounting });
    const found = chunks.flatMap((chunk) => [...framer.push(Buffer.from(chunk))].map(String));
    assert.deepEqual([...found, ...[...framer.end()].map(String)], expected);
  });
}

test("standard input arrives to its end, also a last line without a line end, and ends the agent", async () => {
  const ended = Promise.withResolvers<void>();
  const context = { ...(await testContext()), onEnd: ended.resolve };
  const stream = new PassThrough();
  const input = new StdinInput(context, stream);
  await input.start();
  stream.end("one\ntwo\nlast");
  await ended.promise;
  assert.deepEqual(messages(context), ["one", "two", "last"]);
  await input.stop();
  await context.dispose();
});

test("standard input ends the agent when all is acknowledged, also what is on disk", async (t) => {
  let hasEnded = false;
  const context = {
    ...(await testContext({ slots: 1, batchBytes: 16_384 })),
    onEnd: () => {
      hasEnded = true;
    },
  };
  context.output.acking = false;
  const stream = new PassThrough();
  const input = new StdinInput(context, stream, 10_000_000);
  t.after(async () => {
    await input.stop();
    await context.dispose();
  });
  await input.start();
  const lines = Array.from({ length: 500 }, (_, n) => `${n} ${"x".repeat(100)}`);
  stream.end(lines.join("\n"));
  await context.output.until(() => context.output.sent.length === 1);
  while (!stream.readableEnded) await turn();
  for (let turns = 0; turns < 50; turns++) await turn();
  assert.equal(hasEnded, false);
  context.output.acking = true;
  context.output.sent[0]!.ack();
  while (!hasEnded) await turn();
  assert.deepEqual(messages(context), lines);
});

test("an input starts although the output has no free slot", async (t) => {
  const context = await testContext({ slots: 1 });
  t.after(() => context.dispose());
  const slot = context.output.slots.tryAcquire();
  const given = { host: "127.0.0.1:0", "spool.max_bytes": 0 };
  const input = new TcpInput("tcp", settings(tcpInput, given), context);
  await withDeadline(input.start(), 1_500, "the start of the input");
  const socket = connect(input.port, "127.0.0.1");
  socket.end("one\n");
  await once(socket, "close");
  slot?.release();
  await context.output.until(() => messages(context).length === 1);
  await input.stop();
});

test("a full spool doesn't hold up the end of an input", async (t) => {
  const context = await testContext({ slots: 1, batchBytes: 16_384 });
  t.after(() => context.dispose());
  context.output.acking = false;
  const given = { host: "127.0.0.1:0", "spool.max_bytes": 4_096 };
  const input = new TcpInput("tcp", settings(tcpInput, given), context);
  await input.start();
  const socket = connect(input.port, "127.0.0.1");
  socket.on("error", () => undefined);
  for (let line = 0; line < 1_000; line++) socket.write(`${line} ${"x".repeat(100)}\n`);
  while (input.state().lagBytes < 20_000) await turn();
  await withDeadline(input.stop(), 1_500, "the end of the input");
});

test("a client that never begins its TLS handshake doesn't hold up the end of an input", async (t) => {
  const context = await testContext();
  t.after(() => context.dispose());
  const { certificate, key } = issueOwnCertificate(context.folder, "own", ["127.0.0.1"]);
  const given = { host: "127.0.0.1:0", "tls.certificate": certificate, "tls.key": key };
  const input = new TcpInput("tcp", settings(tcpInput, given), context);
  await input.start();
  const socket = connect(input.port, "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket, "connect");
  await withDeadline(input.stop(), 1_500, "the end of the input");
});

test("lines of many TCP connections all arrive although there is only one slot", async () => {
  const context = await testContext({ slots: 1, batchBytes: 16_384 });
  const input = new TcpInput("tcp", settings(tcpInput, { host: "127.0.0.1:0" }), context);
  await input.start();
  const expected: string[] = [];
  await Promise.all(
    Array.from({ length: 20 }, async (_, client) => {
      const socket = connect(input.port, "127.0.0.1");
      for (let line = 0; line < 50; line++) {
        expected.push(`${client}-${line}-${"x".repeat(100)}`);
        socket.write(`${client}-${line}-${"x".repeat(100)}\n`);
      }
      socket.end();
      await once(socket, "close");
    }),
  );
  await context.output.until(() => messages(context).length === expected.length);
  assert.deepEqual(messages(context).sort(), expected.sort());
  await input.stop();
  await context.dispose();
});

test("a TCP sender waits while the output is away", async () => {
  const context = await testContext({ slots: 1, batchBytes: 16_384 });
  context.output.acking = false;
  const input = new TcpInput(
    "tcp",
    settings(tcpInput, { host: "127.0.0.1:0", timeout: "1s", "spool.max_bytes": 0 }),
    context,
  );
  await input.start();
  const socket = connect(input.port, "127.0.0.1");
  const total = 300;
  for (let line = 0; line < total; line++) socket.write(`${String(line).padStart(1_000, "0")}\n`);
  await context.output.until(() => context.output.sent.length === 1);
  // Longer than a sender may be idle.
  await once(socket.setTimeout(1_500), "timeout");
  assert.ok(messages(context).length < total);
  context.output.acking = true;
  context.output.sent[0]!.ack();
  await context.output.until(() => messages(context).length === total);
  socket.destroy();
  await input.stop();
  await context.dispose();
});

test("datagrams are events, cut off at the limit, and counted where the buffers are full", async () => {
  const context = await testContext({ slots: 1 });
  const input = new UdpInput(
    "udp",
    settings(udpInput, { host: "127.0.0.1:0", max_message_size: 20 }),
    context,
  );
  await input.start();
  const client = createSocket("udp4");
  for (const text of ["one\n", "x".repeat(30)]) client.send(text, input.port, "127.0.0.1");
  await context.output.until(() => messages(context).length === 2);
  assert.deepEqual(messages(context), ["one", "x".repeat(20)]);
  client.close();
  await input.stop();
  await context.dispose();
});

const ON_LINUX = { skip: process.platform !== "linux" && "only Linux tells what its kernel drops" };

for (const host of ["127.0.0.1:0", "[::ffff:127.0.0.1]:0", "[::]:0"])
  test(`datagrams that the kernel dropped at ${host} are counted`, ON_LINUX, async (t) => {
    const context = await testContext();
    t.after(() => context.dispose());
    const input = new UdpInput("udp", settings(udpInput, { host, read_buffer: "4kb" }), context);
    await input.start();
    t.after(() => input.stop());
    sendDatagrams(input.port);
    await context.output.until(() => messages(context).length > 0);
    await input.stop();
    const { values } = await context.metrics.dropped.get();
    const value = values[0]?.value ?? 0;
    assert.ok(value > 300 && value < DATAGRAMS, `${value} dropped`);
  });

for (const plugin of [udpInput, syslogInput]) {
  test(`${plugin.type} sets its read_buffer, and a smaller one granted by the system is logged`, async (t) => {
    const context = await testContext();
    const asked = t.mock.method(Socket.prototype, "setRecvBufferSize");
    const told = t.mock.method(context.log, "info");
    t.mock.method(Socket.prototype, "getRecvBufferSize", () => 200_000);
    for (const read_buffer of ["100kb", "1mb"]) {
      const given = settings(plugin, { host: "127.0.0.1:0", read_buffer });
      const input = plugin.create(given as never, context);
      await input.start();
      await input.stop();
    }
    await context.dispose();
    assert.deepEqual(
      asked.mock.calls.map(({ arguments: [size] }) => size),
      [102_400, 1_048_576],
    );
    assert.equal(told.mock.callCount(), 1);
    assert.deepEqual(told.mock.calls[0]?.arguments[0], { wanted: 1_048_576, got: 200_000 });
  });
}

test("a port in use is reported with the input and the address", async () => {
  const context = await testContext();
  const first = new TcpInput("tcp", settings(tcpInput, { host: "127.0.0.1:0" }), context);
  await first.start();
  const second = new TcpInput("tcp", settings(tcpInput, { host: `127.0.0.1:${first.port}` }), context);
  await assert.rejects(second.start(), {
    code: "port_taken",
    message: /input test cannot listen on tcp 127\.0\.0\.1:\d+: another process/,
  });
  await second.stop();
  await first.stop();
  await context.dispose();
});

test("syslog over TCP understands octet counts", async () => {
  const context = await testContext();
  const input = syslogInput.create(
    settings(syslogInput, { host: "127.0.0.1:0", protocol: "tcp" }),
    context,
  ) as TcpInput;
  await input.start();
  const socket = connect(input.port, "127.0.0.1");
  socket.end("11 <13>1 - - a<14>plain\n");
  await context.output.until(() => messages(context).length === 2);
  assert.deepEqual(messages(context), ["<13>1 - - a", "<14>plain"]);
  await input.stop();
  await context.dispose();
});

for (const [what, octetCounting, text] of [
  ["a line", false, "LONG\nshort\n"],
  ["a counted message", true, "10000 LONG5 short"],
] as const)
  test(`${what} may come byte by byte, and each byte is copied a few times`, (t) => {
    const long = "x".repeat(10_000);
    const concat = Buffer.concat.bind(Buffer);
    let copied = 0;
    replaceMethod(t, Buffer, "concat", (parts) => {
      const whole = concat(parts);
      copied += whole.length;
      return whole;
    });
    const framer = new Framer({ maxBytes: 1_000_000, octetCounting });
    const bytes = Buffer.from(text.replace("LONG", long));
    const found = [...bytes].flatMap((byte) => [...framer.push(Buffer.from([byte]))].map(String));
    assert.deepEqual(found, [long, "short"]);
    assert.ok(copied < 20 * bytes.length, `${copied} bytes for ${bytes.length}`);
  });
