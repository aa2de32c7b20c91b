import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { InputWorld, plain } from "#test/contract/input-runner.ts";
import { OutputWorld } from "#test/contract/output-runner.ts";
import { startNats, type TestNats } from "#test/harness/nats.ts";

let nats: TestNats;
let connection: NatsConnection;

before(async () => {
  nats = await startNats();
  connection = await connect({ servers: nats.url, token: nats.token });
});

after(async () => {
  await connection.close();
  await nats.stop();
});

function server(): string {
  return `servers => ["127.0.0.1:${nats.port}"] token => "${nats.token}"`;
}

test("a stream is read through a durable consumer: where the log takes no more it stays there, and comes again by its sequence", async () => {
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: "LOGS", subjects: ["logs.>"] });
  const stream = jetstream(connection);
  for (let n = 1; n <= 300; n++) await stream.publish(n % 2 === 0 ? "logs.a" : "logs.b", `{"n":${n}}`);
  const world = new InputWorld();
  const text = `nats { ${server()} subject => "logs.a" durable => "reader" metadata_enabled => true ack_wait => 0.2 }`;
  world.refuseAfter(0);
  const first = world.make(text);
  await first.start();
  await world.untilRefused();
  await first.stop();
  world.refuseAfter(undefined);
  const second = world.make(text);
  await second.start();
  await world.until(150);
  await second.stop();
  const places = new Map(world.sent.map(({ offset, event }) => [offset, plain(event)["n"]]));
  assert.equal(places.size, 150);
  for (const [offset, n] of places) assert.equal(offset, n);
  assert.match(world.sent[0]!.key, /^LOGS\//);
  assert.partialDeepStrictEqual(world.sent[0]!.event.metadata, {
    nats: { subject: "logs.a", stream: "LOGS" },
  });
  assert.equal((await manager.consumers.info("LOGS", "reader")).num_ack_pending, 0);
});

test("without a stream the input hears what passes, and says that a stream that isn't there isn't", async (t) => {
  const world = new InputWorld();
  const input = world.make(`nats { ${server()} subject => "now.*" jetstream => false }`);
  await input.start();
  t.after(() => input.stop());
  await world.untilWorking();
  connection.publish("now.x", '{"n":1}');
  await world.until(1);
  const missing = new InputWorld();
  const nowhere = missing.make(`nats { ${server()} stream => "NOWHERE" }`);
  await nowhere.start();
  t.after(() => nowhere.stop());
  await missing.untilFailing(/stream not found/);
  assert.throws(() => new InputWorld().make("nats { }"), /nothing to read/);
});

test("what output nats publishes is in the stream, once however often it is sent, and what isn't a subject is refused", async (t) => {
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: "OUT", subjects: ["out.>"] });
  const output = new OutputWorld(`nats { ${server()} subject => "out.%{kind}" }`);
  t.after(() => output.writer.stop());
  await output.write([{ kind: "a" }, { kind: "a b" }]);
  const again = new OutputWorld(`nats { ${server()} subject => "out.%{kind}" }`);
  t.after(() => again.writer.stop());
  await again.write([{ kind: "a" }]);
  assert.equal((await manager.streams.info("OUT")).state.messages, 1);
  assert.match(output.refused.join(), /"out.a b" isn't a subject/);
  const nobody = new OutputWorld(`nats { ${server()} subject => "nobody" }`);
  t.after(() => nobody.writer.stop());
  await assert.rejects(nobody.write([{ kind: "a" }]), { code: "unavailable" });
});
