import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { connect as connectTls } from "node:tls";
import { encode } from "@msgpack/msgpack";
import { faultLog } from "#hub/pipeline/plugins/inputs/stream/listener.ts";
import { sendingLogger } from "#proto/kit/log.ts";
import { InputWorld, plain } from "#test/contract/input-runner.ts";
import { issueCertificate, makeAuthority } from "#test/harness/certificates.ts";
import { TestClock } from "#test/support/agent/recording-output.ts";
import { sendChunks, startInput } from "#test/support/pipeline/listening-input.ts";

test("tcp reads lines however they are cut into packets, the last one too, and says who sent them", async (t) => {
  const { world, port } = await startInput(t, (at) => `tcp { port => ${at} host => "127.0.0.1" }`);
  await sendChunks(port, "one\ntw", "o\r\n\nthr", "ee");
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
  const { world, port } = await startInput(
    t,
    (at) =>
      `tcp { port => ${at} host => "127.0.0.1" ecs_compatibility => disabled proxy_protocol => true codec => json_lines }`,
  );
  await sendChunks(port, "PROXY TCP4 192.0.2.1 198.51.100.1 5678 443\r\n", '{"a":1}\n');
  await world.until(1);
  assert.deepEqual(plain(world.sent[0]!.event), {
    a: 1,
    host: "192.0.2.1",
    port: 5678,
    proxy_host: "198.51.100.1",
    proxy_port: 443,
  });
  assert.deepEqual(world.sent[0]!.event.metadata, { ip_address: "192.0.2.1" });
  const other = await startInput(t, (at) => `tcp { port => ${at} host => "127.0.0.1" }`);
  await sendChunks(other.port, Buffer.alloc(3 * 1024 * 1024, 0x61), "\n");
  await other.world.until(2);
  for (const { event } of other.world.sent) {
    assert.deepEqual(event.fields["tags"], ["line_cut"]);
    assert.ok(String(event.fields["message"]).length <= 2 * 1024 * 1024);
  }
  assert.equal(other.world.cuts, 1);
});

test("tcp reads binary values whatever bytes they consist of, and ends where it can't", async (t) => {
  for (const codec of ["msgpack", "fluent"]) {
    const { world, port } = await startInput(
      t,
      (at) => `tcp { port => ${at} host => "127.0.0.1" codec => ${codec} }`,
    );
    const value = (n: number): Buffer => {
      const record = { n, text: "a\n\r\nb" };
      return Buffer.from(encode(codec === "fluent" ? ["app.x", n, record] : record));
    };
    const bytes = Buffer.concat([value(10), value(0x0a0a), value(11)]);
    await sendChunks(port, bytes.subarray(0, 9), bytes.subarray(9, 20), bytes.subarray(20));
    await world.until(3);
    assert.deepEqual(
      world.sent.map(({ event }) => [event.fields["n"], event.fields["text"]]),
      [10, 0x0a0a, 11].map((n) => [n, "a\n\r\nb"]),
    );
    await sendChunks(port, Buffer.concat([value(12), Buffer.from([0xc1]), value(13)]));
    await sendChunks(port, value(14).subarray(0, 8));
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
  const { world, port } = await startInput(
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
  const secured = await startInput(
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
  const { world, port } = await startInput(
    t,
    (at) => `tcp { port => ${at} host => "127.0.0.1" proxy_protocol => true }`,
  );
  await sendChunks(port, "PROXY TCP4 192.0.2.1 198.51.100.1 5678 443\r\none\n");
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
  const { port } = await startInput(t, (at) => `tcp { port => ${at} host => "127.0.0.1" }`);
  const second = new InputWorld().make(`tcp { port => ${port} host => "127.0.0.1" }`);
  await assert.rejects(second.start(), { code: "port_taken" });
  await second.stop();
});
