/** Inputs and outputs of the pipeline against the servers they are for. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { connect } from "amqplib";
import pg from "pg";
import { InputWorld, plain } from "#test/contract/input-runner.ts";
import { OutputWorld } from "#test/contract/output-runner.ts";
import { startHub } from "#test/harness/hub.ts";
import { type KafkaBroker, noKafka, startKafka } from "#test/harness/kafka.ts";
import { noPostgresql, startPostgresql } from "#test/harness/postgresql.ts";
import { noRabbitmq, type RabbitmqServer, startRabbitmq } from "#test/harness/rabbitmq.ts";
import { Workspace } from "#test/harness/workspace.ts";

let rabbitmq: Promise<RabbitmqServer> | undefined;

/** One server for all tests: it takes seconds to start. */
function rabbitmqPort(): Promise<number> {
  rabbitmq ??= startRabbitmq();
  return rabbitmq.then(({ port }) => port);
}

let kafka: Promise<KafkaBroker> | undefined;

function kafkaBroker(): Promise<KafkaBroker> {
  kafka ??= startKafka();
  return kafka;
}

after(async () => {
  await (await rabbitmq)?.stop();
  await (await kafka)?.stop();
});

test("input rabbitmq receives what output rabbitmq publishes, with headers and properties", {
  skip: noRabbitmq,
}, async (t) => {
  const port = await rabbitmqPort();
  const input = new InputWorld();
  const reader = input.make(`rabbitmq { host => "127.0.0.1" port => ${port} queue => "first" durable => true
    exchange => "logs" exchange_type => "topic" key => "app.*" metadata_enabled => "extended" }`);
  await reader.start();
  await input.untilWorking();
  const output = new OutputWorld(`rabbitmq { host => ["127.0.0.1:1", "127.0.0.1:${port}"] exchange => "logs"
    exchange_type => "topic" durable => true key => "app.%{kind}" mandatory => true
    message_properties => { "content_type" => "application/json" "priority" => 3 "headers" => { "kind" => "%{kind}" } } }`);
  t.after(() => output.writer.stop());
  const events = Array.from({ length: 1000 }, (_, n) => ({ n, kind: "web" }));
  await assert.rejects(output.write(events), { code: "unavailable" }, "the first host answers nothing");
  assert.deepEqual(await output.write(events), { refused: [] });
  await input.until(1000);
  await reader.stop();
  assert.deepEqual(
    input.sent.map(({ event }) => event.fields["n"]),
    events.map(({ n }) => n),
  );
  const { rabbitmq_headers, rabbitmq_properties, rabbitmq_payload } = input.sent[0]!.event.metadata;
  assert.deepEqual(rabbitmq_headers, { kind: "web" });
  assert.partialDeepStrictEqual(rabbitmq_properties, { "routing-key": "app.web", priority: 3 });
  assert.match(JSON.stringify(rabbitmq_payload), /\\"n\\":0/);
  const lost = await output.write([{ kind: "a.b" }]);
  assert.deepEqual(lost, { refused: [{ place: 0, reason: "no queue takes the message" }] });
});

test("a message that the log refused stays in its queue, and none is lost when the input stops", {
  skip: noRabbitmq,
}, async (t) => {
  const port = await rabbitmqPort();
  const connection = await connect(`amqp://127.0.0.1:${port}`);
  t.after(() => connection.close());
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue("second", { durable: true });
  for (let n = 0; n < 500; n++) channel.sendToQueue("second", Buffer.from(`{"n":${n}}`));
  await channel.waitForConfirms();
  const world = new InputWorld();
  const text = `rabbitmq { host => "127.0.0.1" port => ${port} queue => "second" durable => true prefetch_count => 50 }`;
  world.refuseAfter(120);
  const first = world.make(text);
  await first.start();
  await world.untilRefused();
  await first.stop();
  const { messageCount } = await channel.checkQueue("second");
  assert.ok(messageCount >= 500 - world.sent.length, `${messageCount} and ${world.sent.length}`);
  world.refuseAfter(undefined);
  const second = world.make(text);
  await second.start();
  await world.until(500);
  await second.stop();
  assert.equal((await channel.checkQueue("second")).messageCount, 0);
  assert.equal(new Set(world.sent.map(({ event }) => plain(event)["n"])).size, 500);
});

test("input rabbitmq reports a fault and continues once it is fixed", { skip: noRabbitmq }, async (t) => {
  const port = await rabbitmqPort();
  const connection = await connect(`amqp://127.0.0.1:${port}`);
  t.after(() => connection.close());
  const channel = await connection.createConfirmChannel();
  const world = new InputWorld();
  const input = world.make(
    `rabbitmq { host => "127.0.0.1" port => ${port} queue => "third" passive => true }`,
  );
  await input.start();
  t.after(() => input.stop());
  await world.untilFailing(/no queue 'third'/);
  await channel.assertQueue("third");
  channel.sendToQueue("third", Buffer.from('{"message":"here"}'));
  await world.until(1);
  assert.deepEqual(world.messages, ["here"]);
  await channel.deleteQueue("third");
  await world.untilFailing(/cancelled the consumer of the queue third/);
});

test("input kafka receives what output kafka publishes with any compression, and an oversized message is refused", {
  skip: noKafka,
}, async (t) => {
  const { address } = await kafkaBroker();
  for (const packing of ["none", "gzip", "snappy", "lz4", "zstd"]) {
    const topic = `packed-${packing}`;
    const output =
      new OutputWorld(`kafka { bootstrap_servers => "${address}" topic_id => "${topic}" codec => json
      message_key => "%{k}" message_headers => { "h" => "x%{k}" } acks => all compression_type => ${packing}
      max_request_size => 4000000 }`);
    t.after(() => output.writer.stop());
    const long = Buffer.from(Array.from({ length: 1_500_000 }, () => Math.random() * 256)).toString("base64");
    const events = Array.from({ length: 100 }, (_, n) => ({ n, k: `${n % 7}`, ...(n === 60 && { long }) }));
    const rest = await output.write(events);
    assert.deepEqual(
      rest?.refused?.map(({ place }) => place),
      [60],
    );
    const world = new InputWorld();
    const text = `kafka { bootstrap_servers => "${address}" topics => ["${topic}"] group_id => "${topic}"
      auto_offset_reset => earliest codec => json decorate_events => extended }`;
    const first = world.make(text);
    await first.start();
    await world.until(99);
    await first.stop();
    assert.equal(new Set(world.sent.map(({ event }) => event.fields["n"])).size, 99);
    const { kafka: decoration } = world.sent[0]!.event.metadata as Record<string, Record<string, string>>;
    assert.partialDeepStrictEqual(decoration, {
      topic,
      consumer_group: topic,
      headers: { h: `x${decoration!["key"]}` },
    });
    await output.write([{ n: 100, k: "1" }]);
    const second = world.make(text);
    await second.start();
    await world.until(100);
    await second.stop();
    assert.equal(world.sent.length, 100, "the group goes on where it was");
  }
});

test("members of a group share a topic, and a broker that is killed costs no message", {
  skip: noKafka,
}, async (t) => {
  const broker = await kafkaBroker();
  const output = new OutputWorld(
    `kafka { bootstrap_servers => "${broker.address}" topic_id => "shared" codec => json message_key => "%{n}" acks => all }`,
  );
  t.after(() => output.writer.stop());
  let n = 0;
  const write = async (count: number): Promise<void> => {
    const events = Array.from({ length: count }, () => ({ n: n++ }));
    while (
      !(await output.write(events).then(
        () => true,
        () => false,
      ))
    )
      await setTimeout(200);
  };
  await write(200);
  const worlds = [new InputWorld(), new InputWorld()];
  for (const world of worlds) {
    const input =
      world.make(`kafka { bootstrap_servers => "${broker.address}" topics_pattern => "^share" group_id => "shared"
      auto_offset_reset => earliest codec => json auto_commit_interval_ms => 200 session_timeout_ms => 6000 }`);
    await input.start();
    t.after(() => input.stop());
    await world.untilWorking();
    await write(200);
  }
  await broker.kill();
  const meanwhile = write(200);
  await broker.restart();
  await meanwhile;
  const seen = (): number =>
    new Set(worlds.flatMap(({ sent }) => sent.map(({ event }) => event.fields["n"]))).size;
  for (let left = 300; seen() < n && left > 0; left--) await setTimeout(100);
  assert.equal(seen(), n);
});

/** Runs an input until so many events are in the log in all. */
async function runUntil(world: InputWorld, text: string, count: number): Promise<void> {
  const input = world.make(text);
  await input.start();
  await world.until(count);
  await input.stop();
}

test("rows of PostgreSQL are read page by page, times with microseconds", {
  skip: noPostgresql,
}, async (t) => {
  const { url, stop } = await startPostgresql();
  const client = new pg.Client({ connectionString: url.replace("//", "//tester@") });
  await client.connect();
  t.after(async () => {
    await client.end();
    await stop();
  });
  await client.query(`CREATE TABLE t AS SELECT n AS id, '2026-01-01T10:00:00.000001Z'::timestamptz + n * interval '1 us' AS at,
    n * 1.5 AS price, '{"a":[1]}'::jsonb AS doc, ARRAY['x','y'] AS list, date '2026-01-02' AS day, NULL::text AS none
    FROM generate_series(1::bigint, 2500) n`);
  const text = `jdbc { jdbc_connection_string => "jdbc:${url}" tracking_column => at tracking_column_type => timestamp
    use_column_value => true statement => "SELECT * FROM t WHERE at::timestamptz > :sql_last_value ORDER BY at" }`;
  const world = new InputWorld();
  await runUntil(world, text, 2500);
  assert.deepEqual(plain(world.sent[1]!.event), {
    id: 2,
    at: "2026-01-01T10:00:00.000003Z",
    price: 3,
    doc: { a: [1] },
    list: ["x", "y"],
    day: "2026-01-02",
    none: null,
  });
  assert.equal(JSON.stringify(world.sent[1]!.event.fields["price"]), "3.0");
  await client.query("INSERT INTO t SELECT 2501, max(at) + interval '1 us' FROM t");
  await runUntil(world, text, 2501);
  await runUntil(
    world,
    text
      .replace(/statement => ".*"/, 'statement => "SHOW server_encoding"')
      .replace("use_column_value => true", ""),
    2502,
  );
  assert.deepEqual(
    world.sent.slice(2500).map(({ event }) => event.fields["id"] ?? event.fields["server_encoding"]),
    [2501, "UTF8"],
  );
});

test("output elasticsearch fills another hub over HTTP, each document once though they are sent twice", async (t) => {
  const workspace = new Workspace(t);
  const hub = await startHub({ dataDir: workspace.path("data", "hub") });
  t.after(() => hub.stop());
  const { host } = new URL(hub.searchUrl);
  const text = `elasticsearch { hosts => ["${host}"] index => "remote-%{kind}" }`;
  const events = Array.from({ length: 500 }, (_, n) => ({ n, kind: n % 2 === 0 ? "a" : "b" }));
  for (const _ of [1, 2]) {
    const output = new OutputWorld(text);
    assert.deepEqual(await output.write(events), { again: [], refused: [] });
    await output.writer.stop();
  }
  await fetch(`${hub.searchUrl}/remote-*/_refresh`, { method: "POST" });
  const answer = await fetch(`${hub.searchUrl}/remote-*/_count`);
  assert.partialDeepStrictEqual(await answer.json(), { count: 500 });
  const output = new OutputWorld(
    `elasticsearch { hosts => ["${host}"] index => "remote-a" action => "%{do}" document_id => "%{id}" doc_as_upsert => true }`,
  );
  t.after(() => output.writer.stop());
  const rest = await output.write([
    { do: "update", id: "u", v: 1 },
    { do: "update", id: "u", w: 2 },
    { do: "delete", id: "id-0" },
    { do: "delete", id: "nobody" },
    { do: "create", id: "u", v: 3 },
    { do: "index", id: "bad", n: "no number" },
  ]);
  assert.deepEqual(
    rest?.refused?.map(({ place }) => place),
    [5],
  );
  const { _source: source } = (await (await fetch(`${hub.searchUrl}/remote-a/_doc/u`)).json()) as {
    _source: Record<string, unknown>;
  };
  assert.partialDeepStrictEqual(source, { v: 1, w: 2 });
  assert.equal((await fetch(`${hub.searchUrl}/remote-a/_doc/id-0`)).status, 404);
});
