import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientHttp2Stream, connect as connectHttp2, constants } from "node:http2";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { AppError } from "#proto/kit/errors.ts";
import { InputWorld } from "#test/contract/input-runner.ts";
import { freePort } from "#test/harness/free-ports.ts";

interface GrpcAnswer {
  readonly status: string;
  readonly message: string;
}

async function start(
  t: TestContext,
  text: (port: number) => string,
): Promise<{ world: InputWorld; port: number }> {
  const world = new InputWorld();
  const port = await freePort();
  const input = world.make(text(port));
  await input.start();
  t.after(() => input.stop());
  return { world, port };
}

async function call(port: number, message: Buffer, headers: Record<string, string>): Promise<GrpcAnswer> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  const frame = Buffer.alloc(5);
  frame[0] = headers["grpc-encoding"] === undefined ? 0 : 1;
  frame.writeUInt32BE(message.length, 1);
  const stream = session.request({
    ":method": "POST",
    ":path": "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
    "content-type": "application/grpc",
    ...headers,
  });
  let found: Record<string, string | undefined> = {};
  for (const name of ["response", "trailers"] as const)
    stream.on(name, (each: Record<string, string>) => {
      found = { ...found, ...each };
    });
  stream.end(Buffer.concat([frame, message]));
  await once(stream.resume(), "close");
  session.close();
  return { status: String(found["grpc-status"]), message: found["grpc-message"] ?? "" };
}

/** A request with one record whose body is `hi`: resourceLogs, scopeLogs, logRecords, body, each as field 1, 2, 2, 5. */
const ONE_RECORD = Buffer.from([0x0a, 0x0a, 0x12, 0x08, 0x12, 0x06, 0x2a, 0x04, 0x0a, 0x02, 0x68, 0x69]);

test("otlp takes calls of gRPC, packed or not, and names the code of what it refuses", async (t) => {
  const grpc = await freePort();
  const { world } = await start(
    t,
    (at) =>
      `otlp { port => ${at} host => "127.0.0.1" grpc_port => ${grpc} tokens => ["secret"] max_content_length => 1000 }`,
  );
  const signed = { authorization: "Bearer secret" };
  assert.deepEqual(await call(grpc, ONE_RECORD, signed), { status: "0", message: "" });
  const packed = { ...signed, "grpc-encoding": "gzip" };
  assert.equal((await call(grpc, gzipSync(ONE_RECORD), packed)).status, "0");
  const literal = Buffer.from([ONE_RECORD.length, (ONE_RECORD.length - 1) << 2]);
  for (const [encoding, message] of [
    ["deflate", deflateSync(ONE_RECORD)],
    ["zstd", zstdCompressSync(ONE_RECORD)],
    ["snappy", Buffer.concat([literal, ONE_RECORD])],
  ] as const)
    assert.equal((await call(grpc, message, { ...signed, "grpc-encoding": encoding })).status, "0", encoding);
  assert.deepEqual(world.messages, ["hi", "hi", "hi", "hi", "hi"]);
  const refused: [Buffer, Record<string, string>, string][] = [
    [ONE_RECORD, {}, "16"],
    [Buffer.from([0xff, 0xff]), signed, "3"],
    [Buffer.alloc(1001), signed, "8"],
    [gzipSync(Buffer.alloc(100_000)), packed, "8"],
    [ONE_RECORD, packed, "3"],
    [ONE_RECORD, { ...signed, "grpc-encoding": "lz4" }, "12"],
    [ONE_RECORD, { ...signed, ":path": "/opentelemetry.proto.collector.trace.v1.TraceService/Export" }, "12"],
  ];
  for (const [message, headers, status] of refused)
    assert.equal((await call(grpc, message, headers)).status, status, JSON.stringify(headers));
  assert.equal(world.sent.length, 5);
});

test("a call whose message doesn't end keeps no input from stopping, and ends after its time", async (t) => {
  const world = new InputWorld();
  const grpc = await freePort();
  const input = world.make(`otlp { port => ${await freePort()} host => "127.0.0.1" grpc_port => ${grpc} }`);
  await input.start();
  t.after(() => input.stop());
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const session = connectHttp2(`http://127.0.0.1:${grpc}`);
  t.after(() => session.destroy());
  const begin = async (taken: number) => {
    const stream = session.request({
      ":method": "POST",
      ":path": "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
    });
    stream.on("error", () => undefined);
    stream.write("half");
    while (world.shares.bytes.taken < taken) await turn();
    return stream;
  };
  const slow = await begin(4);
  t.mock.timers.tick(300_000);
  await once(slow, "close");
  await begin(4);
  await input.stop();
  assert.equal(world.shares.bytes.taken, 0);
});

test("an input that stops answers the calls it has begun with, and refuses others", async (t) => {
  const world = new InputWorld();
  const grpc = await freePort();
  const input = world.make(`otlp { port => ${await freePort()} host => "127.0.0.1" grpc_port => ${grpc} }`);
  await input.start();
  const session = connectHttp2(`http://127.0.0.1:${grpc}`);
  t.after(() => session.destroy());
  const begin = (): ClientHttp2Stream => {
    const stream = session.request({
      ":method": "POST",
      ":path": "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
    });
    stream.write(Buffer.concat([Buffer.from([0, 0, 0, 0, ONE_RECORD.length]), ONE_RECORD]));
    return stream.on("error", () => undefined);
  };
  const release = world.fill();
  const first = begin().end();
  await world.untilHeld();
  const stopped = input.stop();
  const late = begin().end();
  await new Promise((resolve) => late.once("close", resolve));
  assert.equal(late.rstCode, constants.NGHTTP2_REFUSED_STREAM);
  const answered = once(first.resume(), "trailers");
  release();
  const [trailers] = await answered;
  assert.equal((trailers as Record<string, string>)["grpc-status"], "0");
  await stopped;
  assert.deepEqual(world.messages, ["hi"]);
});

test("a call isn't answered with success before the log has its events, and is told to come back", async (t) => {
  const grpc = await freePort();
  const { world } = await start(t, (at) => `otlp { port => ${at} host => "127.0.0.1" grpc_port => ${grpc} }`);
  world.refuseAfter(0);
  assert.deepEqual(await call(grpc, ONE_RECORD, {}), { status: "14", message: "the%20input%20is%20stopped" });
  world.refuseAfter(undefined);
  // What can never be stored would come back indefinitely.
  world.refusal = new AppError("parsing", "too long");
  assert.deepEqual(await call(grpc, ONE_RECORD, {}), { status: "3", message: "too%20long" });
  world.refusal = undefined;
  assert.equal((await call(grpc, ONE_RECORD, {})).status, "0");
  assert.deepEqual(world.messages, ["hi"]);
});

test("senders sign in by token, by name and password, or by an API key of the hub", async (t) => {
  const { port } = await start(
    t,
    (at) =>
      `otlp { port => ${at} host => "127.0.0.1" tokens => ["t1"] user => "u" password => "p" api_keys => true }`,
  );
  const status = async (authorization: string | undefined): Promise<number> => {
    const headers = {
      "content-type": "application/json",
      ...(authorization !== undefined && { authorization }),
    };
    const answer = await fetch(`http://127.0.0.1:${port}/v1/logs`, { method: "POST", body: "{}", headers });
    await answer.arrayBuffer();
    return answer.status;
  };
  const basic = `Basic ${Buffer.from("u:p").toString("base64")}`;
  const anyUser = `Basic ${Buffer.from("x:t1").toString("base64")}`;
  for (const allowed of ["Bearer t1", "bearer t1", basic, anyUser, "ApiKey of-the-hub"])
    assert.equal(await status(allowed), 200);
  const wrong = `Basic ${Buffer.from("x:t2").toString("base64")}`;
  for (const refused of [undefined, "Bearer t2", wrong, "t1 ", "ApiKey other", "t1"])
    assert.equal(await status(refused), 401);
});

test("a wrong path is answered with where to send", async (t) => {
  const { port } = await start(t, (at) => `otlp { port => ${at} host => "127.0.0.1" }`);
  const answer = await fetch(`http://127.0.0.1:${port}/loki/api/v1/push`, { method: "POST", body: "{}" });
  assert.equal(answer.status, 404);
  assert.match(await answer.text(), /nothing is taken at \/loki\/api\/v1\/push.*POST \/v1\/logs/s);
});
