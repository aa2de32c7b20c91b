import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, type TestContext as Run, test } from "node:test";
import { setTimeout as pause, setImmediate as turn } from "node:timers/promises";
import { convert } from "#proto/kit/schema.ts";
import { freePort } from "#test/harness/free-ports.ts";
import { eventsOf, type TestContext, testContext } from "#test/support/agent/recording-output.ts";
import { KvstoreInput, kvstoreInput } from "./kvstore.ts";
import { RedisClient } from "./redis/client.ts";
import { type Reply, ReplyError, ReplyReader } from "./redis/reply.ts";

const isInstalled = spawnSync("redis-server", ["--version"]).status === 0;
const real = { skip: isInstalled ? false : "redis-server isn't installed" };
const PASSWORD = "secret";
let server: ChildProcess | undefined;
let folder = "";
let port = 0;
let client: RedisClient;

const optionsOf = (password: string) => ({
  host: "127.0.0.1",
  port,
  username: "",
  password,
  database: 0,
  timeoutMs: 5_000,
  tls: undefined,
});

async function startServer(): Promise<void> {
  const options = {
    save: "",
    appendonly: "yes",
    dir: folder,
    requirepass: PASSWORD,
    bind: "127.0.0.1",
    port: String(port),
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  server = spawn("redis-server", args, { stdio: "ignore" });
  for (let tries = 0; ; tries++) {
    try {
      client = await RedisClient.connect(optionsOf(PASSWORD), AbortSignal.timeout(30_000));
      await client.command("PING");
      return;
    } catch (error) {
      if (tries > 250) throw error;
      await pause(20);
    }
  }
}

before(async () => {
  if (!isInstalled) return;
  folder = mkdtempSync(join(tmpdir(), "tailrace-redis-"));
  port = await freePort();
  await startServer();
});

beforeEach(async () => {
  if (isInstalled) await client.command("FLUSHALL");
});

after(async () => {
  if (server === undefined) return;
  await client.close();
  server.kill("SIGKILL");
  await once(server, "exit");
  rmSync(folder, { recursive: true, force: true });
});

function open(t: Run, context: TestContext, given: object): KvstoreInput {
  const settings = convert(kvstoreInput.schema, {
    host: `127.0.0.1:${port}`,
    password: PASSWORD,
    ...given,
  });
  const input = new KvstoreInput(settings as never, context);
  t.after(() => input.stop());
  return input;
}

async function newContext(t: Run): Promise<TestContext> {
  const context = await testContext();
  t.after(() => context.dispose());
  return context;
}

const texts = (context: TestContext): string[] => eventsOf(context).map(({ message }) => message);

/** Resolves when the server answers `expected`. */
async function answers(expected: number, name: string, ...args: string[]): Promise<void> {
  while ((await client.command(name, ...args)) !== expected) await turn();
}

test("a list is read in order, and acknowledged items leave the in-progress list", real, async (t) => {
  const context = await newContext(t);
  const values = Array.from({ length: 300 }, (_, n) => `value ${n}`);
  await client.command("RPUSH", "logs", ...values);
  const input = open(t, context, { key: "logs", in_progress_key: "logs:busy" });
  await input.start();
  await context.output.until(() => texts(context).length === 300);
  assert.deepEqual(texts(context), values);
  assert.deepEqual(eventsOf(context)[0]!.fields, { kvstore: { key: "logs" } });
  await answers(0, "LLEN", "logs:busy");
});

test(
  "entries of a list that were taken and not acknowledged come again, before new ones",
  real,
  async (t) => {
    const context = await newContext(t);
    context.output.acking = false;
    await client.command("RPUSH", "logs", "a", "b");
    const given = { key: "logs", in_progress_key: "logs:busy" };
    const first = open(t, context, given);
    await first.start();
    await context.output.until(() => texts(context).length === 2);
    await first.stop();
    assert.equal(await client.command("LLEN", "logs:busy"), 2);
    await client.command("RPUSH", "logs", "c");
    const again = await newContext(t);
    const second = open(t, again, given);
    await second.start();
    await again.output.until(() => texts(again).length === 3);
    assert.deepEqual(texts(again), ["a", "b", "c"]);
    await answers(0, "LLEN", "logs:busy");
  },
);

test("entries in flight are found after a change of the input's id", real, async (t) => {
  const context = await newContext(t);
  const former = `logs:in-progress:${hostname()}:kvstore-0a1b2c3d`;
  await client.command("RPUSH", former, "a", "b");
  await client.command("RPUSH", "logs", "c");
  const place = `kvstore-list/127.0.0.1:${port}/0/logs`;
  context.registry.setPosition(place, former);
  await open(t, context, { key: "logs" }).start();
  await context.output.until(() => texts(context).length === 3);
  assert.deepEqual(texts(context), ["a", "b", "c"]);
  assert.equal(context.registry.position(place), `logs:in-progress:${hostname()}:test`);
  await answers(0, "LLEN", former);
});

test(
  "a stream's entries are acknowledged in the group when the receiver has them, with id, time and fields",
  real,
  async (t) => {
    const context = await newContext(t);
    await client.command("XADD", "events", "1700000000123-0", "message", "hello", "level", "warn");
    await client.command("XADD", "events", "1700000000124-0", "a", "1");
    const input = open(t, context, { data_type: "stream", key: "events", group: "g" });
    await input.start();
    await context.output.until(() => texts(context).length === 2);
    assert.deepEqual(eventsOf(context), [
      {
        offset: 0,
        message: "hello",
        timeMs: 1_700_000_000_123,
        fields: { kvstore: { key: "events", id: "1700000000123-0", fields: { level: "warn" } } },
      },
      {
        offset: 1,
        message: '{"a":"1"}',
        timeMs: 1_700_000_000_124,
        fields: { kvstore: { key: "events", id: "1700000000124-0" } },
      },
    ]);
    for (;;) {
      const [pending] = (await client.command("XPENDING", "events", "g")) as Reply[];
      if (pending === 0) break;
      await turn();
    }
  },
);

test(
  "a stream's entries that were read and not acknowledged come again to the same consumer",
  real,
  async (t) => {
    const context = await newContext(t);
    context.output.acking = false;
    await client.command("XADD", "events", "*", "message", "a");
    const given = { data_type: "stream", key: "events", group: "g", consumer: "c" };
    const first = open(t, context, given);
    await first.start();
    await context.output.until(() => texts(context).length === 1);
    await first.stop();
    await client.command("XADD", "events", "*", "message", "b");
    const again = await newContext(t);
    await open(t, again, given).start();
    await again.output.until(() => texts(again).length === 2);
    assert.deepEqual(texts(again), ["a", "b"]);
  },
);

test("a stream's entries of a consumer that is gone are taken over", real, async (t) => {
  await client.command("XGROUP", "CREATE", "events", "g", "0", "MKSTREAM");
  await client.command("XADD", "events", "*", "message", "left behind");
  await client.command("XREADGROUP", "GROUP", "g", "gone", "STREAMS", "events", ">");
  await pause(5);
  const context = await newContext(t);
  await open(t, context, { data_type: "stream", key: "events", group: "g", claim_idle: "1ms" }).start();
  await context.output.until(() => texts(context).length === 1);
  assert.deepEqual(texts(context), ["left behind"]);
});

test("messages of channels arrive with their channel", real, async (t) => {
  const context = await newContext(t);
  const input = open(t, context, { data_type: "pattern_channel", key: "app.*" });
  await input.start();
  while ((await client.command("PUBLISH", "app.1", "hello")) === 0) await turn();
  await context.output.until(() => texts(context).length > 0);
  assert.deepEqual(eventsOf(context)[0], {
    ...eventsOf(context)[0]!,
    message: "hello",
    fields: { kvstore: { channel: "app.1" } },
  });
});

test("the slow log is read once, in order", real, async (t) => {
  const context = await newContext(t);
  await client.command("SLOWLOG", "RESET");
  await client.command("CONFIG", "SET", "slowlog-log-slower-than", 0);
  await client.command("SET", "key", "value");
  await client.command("CONFIG", "SET", "slowlog-log-slower-than", -1);
  const input = open(t, context, { data_type: "slowlog" });
  await input.start();
  await context.output.until(() => texts(context).length >= 2);
  const found = texts(context);
  assert.ok(found.indexOf("SET key value") > found.findIndex((text) => text.startsWith("CONFIG SET")));
  await input.stop();
  assert.notEqual(context.registry.position("kvstore/test"), undefined);
});

test("after the server was killed reading goes on, and nothing is lost", real, async (t) => {
  const context = await newContext(t);
  context.clock.sleep = async () => await pause(20);
  await client.command("RPUSH", "logs", "a");
  const input = open(t, context, { key: "logs", in_progress_key: "logs:busy" });
  await input.start();
  await context.output.until(() => texts(context).length === 1);
  await answers(0, "LLEN", "logs:busy");
  server!.kill("SIGKILL");
  await once(server!, "exit");
  await client.close();
  await startServer();
  await client.command("RPUSH", "logs", "b");
  await context.output.until(() => texts(context).includes("b"));
  assert.ok(input.state().errors > 0);
});

test("a stream's message is the field that message_field names", real, async (t) => {
  const context = await newContext(t);
  await client.command("XADD", "events", "1-0", "text", "hello", "message", "no");
  await open(t, context, { data_type: "stream", key: "events", message_field: "text" }).start();
  await context.output.until(() => texts(context).length === 1);
  const [event] = eventsOf(context);
  assert.equal(event!.message, "hello");
  assert.deepEqual(event!.fields, { kvstore: { key: "events", id: "1-0", fields: { message: "no" } } });
});

test("the slow log is looked at again after the interval", real, async (t) => {
  const context = await newContext(t);
  const next = Promise.withResolvers<void>();
  const slept: number[] = [];
  context.clock.sleep = async (ms, signal) => {
    slept.push(ms);
    await Promise.race([next.promise, once(signal!, "abort")]);
  };
  await client.command("SLOWLOG", "RESET");
  await open(t, context, { data_type: "slowlog", interval: "3s" }).start();
  while (slept.length === 0) await turn();
  await client.command("CONFIG", "SET", "slowlog-log-slower-than", 0);
  await client.command("SET", "later", "value");
  await client.command("CONFIG", "SET", "slowlog-log-slower-than", -1);
  next.resolve();
  await context.output.until(() => texts(context).includes("SET later value"));
  assert.equal(slept[0], 3_000);
});

test("the password is what password_file holds when a connection is made", real, async (t) => {
  const context = await newContext(t);
  const password_file = join(context.folder, "password");
  writeFileSync(password_file, "wrong\n");
  context.clock.sleep = async () => {
    writeFileSync(password_file, `${PASSWORD}\n`);
    await turn();
  };
  await client.command("RPUSH", "logs", "a");
  const input = open(t, context, { key: "logs", password: "unused", password_file });
  await input.start();
  await context.output.until(() => texts(context).length === 1);
  assert.match(input.state().lastError, /WRONGPASS/);
});

test("a wrong password is reported", real, async (t) => {
  const context = await newContext(t);
  const input = open(t, context, { key: "logs", password: "wrong" });
  await input.start();
  while (input.state().errors === 0) await turn();
  assert.match(input.state().lastError, /WRONGPASS/);
});

test("replies are read however they are cut", () => {
  const bytes = Buffer.from(
    "+OK\r\n:42\r\n$5\r\nhe\r\no\r\n$-1\r\n*2\r\n$1\r\na\r\n*1\r\n:-1\r\n-ERR no\r\n*-1\r\n",
  );
  const expected: Reply[] = [
    Buffer.from("OK"),
    42,
    Buffer.from("he\r\no"),
    null,
    [Buffer.from("a"), [-1]],
    new ReplyError("ERR no"),
    null,
  ];
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const reader = new ReplyReader();
    const found: Reply[] = [];
    for (let at = 0; at < bytes.length; at += size) found.push(...reader.push(bytes.subarray(at, at + size)));
    assert.deepEqual(found, expected);
  }
});

for (const [name, text, message] of [
  ["another protocol", "HTTP/1.1 400\r\n", /doesn't speak the Redis protocol/],
  ["a length that is none", "$x\r\n", /isn't a length/],
  ["nesting without end", "*1\r\n".repeat(20), /nested too deeply/],
  ["a line without end", `+${"x".repeat(70_000)}`, /too long/],
] as const) {
  test(`an invalid reply is refused: ${name}`, () => {
    assert.throws(() => new ReplyReader().push(Buffer.from(text)), { message });
  });
}

test("a server that can't be reached is the input's problem", async (t) => {
  const context = await testContext();
  t.after(() => context.dispose());
  const given = { host: `127.0.0.1:${await freePort()}`, key: "lines" };
  const input = new KvstoreInput(convert(kvstoreInput.schema, given) as never, context);
  t.after(() => input.stop());
  await input.start();
  while (input.state().errors === 0) await turn();
  assert.match(input.problem(), /^input test can't read 127\.0\.0\.1:\d+: .*ECONNREFUSED/);
});
