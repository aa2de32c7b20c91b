import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttp, type IncomingMessage } from "node:http";
import { createServer as createHttps } from "node:https";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { gunzipSync } from "node:zlib";
import { Redis } from "ioredis";
import { InputWorld } from "#test/contract/input-runner.ts";
import { OutputWorld } from "#test/contract/output-runner.ts";
import { issueCertificate, makeAuthority } from "#test/harness/certificates.ts";
import { freePort } from "#test/harness/free-ports.ts";

/** Takes connections; returns what they brought. */
async function peer(t: TestContext, serve: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    serve(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test("tcp sends lines, and connects anew after the peer went", async (t) => {
  const received: string[] = [];
  let arrived = Promise.withResolvers<void>();
  const port = await peer(t, (socket) => {
    socket.once("data", (data) => {
      received.push(data.toString());
      socket.end();
      socket.once("close", () => arrived.resolve());
    });
  });
  const world = new OutputWorld(
    `tcp { host => "127.0.0.1" port => ${port} codec => line { format => "%{m}" } }`,
  );
  t.after(() => world.writer.stop());
  await world.write([{ m: "a" }, { m: "b" }]);
  await arrived.promise;
  arrived = Promise.withResolvers<void>();
  await world.write([{ m: "c" }]).catch(() => world.write([{ m: "c" }]));
  await arrived.promise;
  assert.deepEqual(received, ["a\nb\n", "c\n"]);
  const nobody = new OutputWorld(`tcp { host => "127.0.0.1" port => ${await freePort()} }`);
  await assert.rejects(nobody.write([{ m: 1 }]), { code: "unavailable" });
  await assert.rejects(new OutputWorld('tcp { host => "forbidden.example" port => 1 }').write([{}]), {
    code: "forbidden",
  });
});

test("udp sends a datagram each and refuses what is too long for one", async (t) => {
  const socket = createSocket("udp4").bind(0, "127.0.0.1");
  await once(socket, "listening");
  t.after(() => socket.close());
  const world = new OutputWorld(
    `udp { host => "127.0.0.1" port => ${socket.address().port} codec => plain { format => "%{m}" } }`,
  );
  t.after(() => world.writer.stop());
  const came = once(socket, "message");
  const rest = await world.write([{ m: "x".repeat(70_000) }, { m: "short" }]);
  assert.deepEqual(
    rest?.refused?.map(({ place }) => place),
    [0],
  );
  assert.equal(String((await came)[0]), "short");
});

test("http sends events in every form, tries again what may pass and refuses what won't", async (t) => {
  const requests: { url: string; headers: IncomingMessage["headers"]; body: Buffer }[] = [];
  const answer = async (request: IncomingMessage): Promise<number> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    requests.push({ url: request.url!, headers: request.headers, body: Buffer.concat(chunks) });
    return Number(/\d{3}$/.exec(request.url!)?.[0] ?? 200);
  };
  const server = createHttp((request, response) => {
    void answer(request).then((status) => response.writeHead(status).end());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const world = new OutputWorld(
    `http { url => "${base}/%{status}" headers => { "X-M" => "%{m}" } mapping => { "m" => "%{m}!" } connection => "acc" }`,
  );
  const rest = await world.write([
    { m: "a", status: 200 },
    { m: "b", status: 503 },
    { m: "c", status: 404 },
  ]);
  assert.deepEqual(rest, { again: [1], refused: [{ place: 2, reason: `${base}/404 answered 404` }] });
  const first = requests.find(({ url }) => url === "/200")!;
  assert.deepEqual(
    [first.body.toString(), first.headers["x-m"], first.headers["authorization"]],
    ['{"m":"a!"}', "a", "Bearer token-of-acc"],
  );
  requests.length = 0;
  const batch = new OutputWorld(
    `http { url => "${base}/b" format => json_batch http_compression => true mapping => { "m" => "%{m}" } }`,
  );
  await batch.write([{ m: "a" }, { m: "b" }]);
  assert.deepEqual(JSON.parse(gunzipSync(requests[0]!.body).toString()), [{ m: "a" }, { m: "b" }]);
  const form = new OutputWorld(`http { url => "${base}/f" format => form mapping => { "m" => "%{m}" } }`);
  await form.write([{ m: "a b&c" }]);
  assert.equal(requests[1]!.body.toString(), "m=a+b%26c");
  assert.deepEqual(
    (await new OutputWorld(`http { url => "http://127.0.0.1:${await freePort()}/" }`).write([{}]))?.again,
    [0],
  );
  const odd = new OutputWorld('http { url => "file:///etc/passwd" }');
  await odd.write([{}]);
  assert.match(odd.refused[0] ?? "", /isn't an address of HTTP/);
});

test("http refuses events of which no request can be made, and goes on with the others", async (t) => {
  const server = createHttp((_, response) => response.end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const world = new OutputWorld(
    `http { url => "http://%{host}/" http_method => "post" headers => { "X-App" => "%{app}" } }`,
  );
  const rest = await world.write([
    { host: "a b", app: "x" },
    { host: "[", app: "x" },
    { host: `user:secret@127.0.0.1:${port}`, app: "x" },
    { host: `127.0.0.1:${port}`, app: "x\r\nX-Admin: 1" },
    { host: `127.0.0.1:${port}`, app: "€" },
    { host: "127.0.0.1:1", app: "x" },
    { host: `127.0.0.1:${port}`, app: "good" },
  ]);
  assert.equal(world.refused.length, 5, world.refused.join("; "));
  assert.deepEqual(
    { again: rest?.again, refused: rest?.refused?.map(({ place }) => place) },
    { again: [], refused: [0] },
  );
});

test("file refuses events whose path can't be a file's, and goes on with the others", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-file-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const world = new OutputWorld('file { path => "%{app}" }', folder);
  t.after(() => world.writer.stop?.());
  await world.write([{ app: "a/b" }]);
  const rest = await world.write([{ app: "x".repeat(300) }, { app: "a" }, { app: "a/b/c" }, { app: "good" }]);
  assert.deepEqual(
    rest?.refused?.map(({ place }) => place),
    [0, 1, 2],
  );
  assert.ok(existsSync(join(folder, "good")));
});

test("http maps lists and tables of any depth", async (t) => {
  const bodies: unknown[] = [];
  const server = createHttp((request, response) => {
    void json(request).then((body) => {
      bodies.push(body);
      response.end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const world = new OutputWorld(
    `http { url => "http://127.0.0.1:${(server.address() as AddressInfo).port}/" mapping => { "l" => ["%{m}", { "k" => ["x%{m}"] }] "t" => { "u" => 5 } } }`,
  );
  await world.write([{ m: "a" }]);
  assert.deepEqual(bodies, [{ l: ["a", { k: ["xa"] }], t: { u: "5" } }]);
});

test("http trusts the authority that it is given, shows its own certificate and keeps its connection", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-https-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const authority = makeAuthority(folder);
  const own = issueCertificate(folder, "server", authority, ["localhost"]);
  const client = issueCertificate(folder, "client", authority, ["client.example"]);
  const bodies: unknown[] = [];
  const sockets = new Set<unknown>();
  const server = createHttps(
    {
      cert: readFileSync(own.certificate),
      key: readFileSync(own.key),
      ca: readFileSync(authority.certificate),
      requestCert: true,
      rejectUnauthorized: false,
    },
    (request, response) => {
      const isKnown = (request.socket as TLSSocket).authorized;
      void json(request).then((body) => {
        bodies.push(body);
        sockets.add(request.socket);
        response.writeHead(isKnown ? 200 : 403).end("{}");
      });
    },
  ).listen(0, "localhost");
  await once(server, "listening");
  t.after(() => server.close());
  const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
  const rows: [options: string, rest: unknown][] = [
    ["", { again: [0], refused: [] }],
    [
      `cacert => "${authority.certificate}"`,
      { again: [], refused: [{ place: 0, reason: `${url} answered 403` }] },
    ],
    [
      `ssl_certificate_authorities => ["${authority.certificate}"] ssl_certificate => "${client.certificate}" ssl_key => "${client.key}"`,
      { again: [], refused: [] },
    ],
    [
      'ssl_verification_mode => "none"',
      { again: [], refused: [{ place: 0, reason: `${url} answered 403` }] },
    ],
  ];
  for (const [options, rest] of rows) {
    const world = new OutputWorld(`http { url => "${url}" ${options} }`);
    assert.deepEqual(await world.write([{ m: "a" }]), rest, options);
    assert.deepEqual(await world.write([{ m: "b" }]), rest, options);
    await world.writer.stop();
  }
  assert.equal(bodies.length, 6);
  assert.equal(sockets.size, 3);
});

test("http refuses files of TLS that are missing, and settings without effect, before the first event", () => {
  const rows: [options: string, fault: RegExp][] = [
    ['cacert => "/no/such.pem"', /ENOENT.*\/no\/such\.pem/],
    ['ssl_certificate => "/no/such.pem" ssl_key => "/no/such.key"', /ENOENT.*\/no\/such\.pem/],
    ['ssl_key => "/a.key"', /ssl_certificate and ssl_key go together/],
    ['client_cert => "/a.pem"', /ssl_certificate and ssl_key go together/],
    ['ssl_key_passphrase => "secret"', /ssl_key_passphrase needs/],
  ];
  for (const [options, fault] of rows)
    assert.throws(() => new OutputWorld(`http { url => "https://a.example" ${options} }`), fault, options);
});

test("redis trusts the authority that it is given", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-rediss-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const authority = makeAuthority(folder);
  const own = issueCertificate(folder, "server", authority, ["localhost"]);
  const files = { cert: readFileSync(own.certificate), key: readFileSync(own.key) };
  let isTrusted = false;
  const server = createTlsServer(files, (socket) => {
    isTrusted = true;
    socket.on("error", () => undefined).end("-ERR this isn't Redis\r\n");
  }).listen(0, "localhost");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  for (const [options, expected] of [
    ["", false],
    [`ssl_certificate_authorities => ["${authority.certificate}"]`, true],
    ['ssl_verification_mode => "none"', true],
  ] as const) {
    isTrusted = false;
    const world = new OutputWorld(
      `redis { host => "localhost" port => ${port} key => "k" ssl_enabled => true ${options} }`,
    );
    await assert.rejects(world.write([{ m: 1 }]), { code: "unavailable" });
    assert.equal(isTrusted, expected, options);
    await world.writer.stop();
  }
});

test("http sends one header of each name: what the pipeline names replaces the output's own", async (t) => {
  const headers: IncomingMessage["headers"][] = [];
  const server = createHttp((request, response) => {
    headers.push(request.headers);
    request.resume().on("end", () => response.end());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const world = new OutputWorld(
    `http { url => "http://127.0.0.1:${(server.address() as AddressInfo).port}" user => "u" password => "p" headers => { "content-type" => "application/x-own" "authorization" => "Splunk key" } }`,
  );
  await world.write([{ m: "a" }]);
  assert.equal(headers[0]?.["content-type"], "application/x-own");
  assert.equal(headers[0]["authorization"], "Splunk key");
});

test("pipeline hands events with their metadata to each address, and waits where one has nobody", async () => {
  const world = new OutputWorld('pipeline { send_to => ["a", "b"] }');
  await world.write([{ m: 1, "@metadata": { k: 2 } }]);
  assert.deepEqual(
    world.fed.map(({ address }) => address),
    ["a", "b"],
  );
  const { "@timestamp": _time, ...body } = JSON.parse(
    Buffer.from(world.fed[0]!.records[0]!.body).toString(),
  ) as Record<string, unknown>;
  assert.deepEqual(body, { m: 1, "@metadata": { k: 2 } });
  await assert.rejects(new OutputWorld('pipeline { send_to => ["nobody"] }').write([{}]), {
    code: "unavailable",
  });
  await new OutputWorld('pipeline { send_to => ["nobody"] ensure_delivery => false }').write([{}]);
});

test("csv writes fields as lines that a spreadsheet can't be tricked by", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-csv-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const world = new OutputWorld('csv { path => "%{kind}.csv" fields => ["a", "[b][c]"] }', folder);
  await world.write([
    { kind: "x", a: 1, b: { c: 'say "hi", bob' } },
    { kind: "x", a: "=1+1" },
    { kind: "x", a: -5, b: { c: "two\nlines" } },
  ]);
  await world.writer.stop();
  assert.equal(
    readFileSync(join(folder, "x.csv"), "utf8"),
    '1,"say ""hi"", bob"\n\'=1+1,\n-5,"two\nlines"\n',
  );
});

test("email sends a mail per event, the same id at each try, and refuses what the server refuses", async (t) => {
  const mails: string[] = [];
  const port = await peer(t, (socket) => {
    let mail: string | undefined;
    socket.write("220 test\r\n");
    let pending = "";
    socket.on("data", (data) => {
      pending += data.toString();
      for (let end = pending.indexOf("\r\n"); end >= 0; end = pending.indexOf("\r\n")) {
        const line = pending.slice(0, end);
        pending = pending.slice(end + 2);
        if (mail !== undefined && line !== ".") mail += `${line}\n`;
        else if (line === ".") {
          mails.push(mail ?? "");
          mail = undefined;
          socket.write("250 ok\r\n");
        } else if (line === "DATA") {
          mail = "";
          socket.write("354 go\r\n");
        } else socket.write(line.includes("nobody@") ? "550 no such user\r\n" : "250 ok\r\n");
      }
    });
  });
  const world = new OutputWorld(
    `email { to => "%{to}" subject => "about %{m}" body => "text %{m}\\nmore" htmlbody => "<b>%{m}</b>" address => "127.0.0.1" port => ${port} }`,
  );
  t.after(() => world.writer.stop());
  const rest = await world.write([
    { to: "nobody@example.org", m: 1 },
    { to: "bob@example.org", m: "two" },
  ]);
  assert.deepEqual(
    rest?.refused?.map(({ place }) => place),
    [0],
  );
  assert.match(mails[0] ?? "", /Subject: about two\nMessage-ID: <id-1@tailrace>\n/);
  assert.match(
    mails[0] ?? "",
    /Content-Type: text\/plain[\s\S]*?\n\ntext two\nmore\n[\s\S]*?text\/html[\s\S]*?\n\n<b>two<\/b>\n/,
  );
});

const REDIS = ["/usr/bin/redis-server", "/usr/local/bin/redis-server"].find((path) => existsSync(path));

test("redis: what the output appends the input takes, once each; channels too", {
  skip: REDIS === undefined && "redis-server isn't installed",
}, async (t) => {
  const port = await freePort();
  const server = spawn(
    REDIS!,
    ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
    { stdio: ["ignore", "pipe", "ignore"] },
  );
  t.after(() => server.kill("SIGKILL"));
  for await (const chunk of server.stdout) if (String(chunk).includes("Ready to accept")) break;
  server.stdout.resume();
  const output = new OutputWorld(`redis { host => ["127.0.0.1:${port}"] key => "logs-%{kind}" }`);
  t.after(() => output.writer.stop());
  await output.write(Array.from({ length: 300 }, (_, n) => ({ kind: "a", n })));
  const world = new InputWorld();
  const input = world.make(`redis { host => "127.0.0.1" port => ${port} data_type => list key => "logs-a" }`);
  await input.start();
  await world.until(300);
  await output.write([{ kind: "a", n: 300 }]);
  await world.until(301);
  await input.stop();
  assert.deepEqual(
    world.sent.map(({ event }) => event.fields["n"]),
    Array.from({ length: 301 }, (_, n) => n),
  );
  const other = new Redis(port, "127.0.0.1");
  await other.set("logs-text", "no list");
  const rest = await output.write(["b", "text"].map((kind) => ({ kind })));
  assert.deepEqual(rest, { again: [], refused: [{ place: 1, reason: "logs-text isn't a list" }] });
  assert.equal(await other.llen("logs-b"), 1);
  other.disconnect();
  const channel = new InputWorld();
  const listening = channel.make(
    `redis { host => "127.0.0.1" port => ${port} data_type => pattern_channel key => "ch-*" }`,
  );
  await listening.start();
  const probe = new Redis(port, "127.0.0.1");
  t.after(() => probe.disconnect());
  while (Number(await probe.pubsub("NUMPAT")) === 0) await new Promise((resolve) => setImmediate(resolve));
  const publisher = new OutputWorld(
    `redis { host => ["127.0.0.1:${port}"] key => "ch-1" data_type => channel }`,
  );
  await publisher.write([{ n: "published" }]);
  await channel.until(1);
  await Promise.all([listening.stop(), publisher.writer.stop()]);
  assert.equal(channel.sent[0]!.event.fields["n"], "published");
});
