import assert from "node:assert/strict";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { placesDatabase } from "#test/fixtures/geoip-database.ts";
import { becomes } from "#test/harness/becomes.ts";
import { count, searchAll } from "#test/harness/search.ts";
import { accessTime } from "#test/harness/sequence-log.ts";
import { startStack } from "#test/harness/stack.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

test("an access log goes through grok, date, geoip, useragent and conditions to the index and a file, both complete after a kill", async (t) => {
  const workspace = new Workspace(t);
  const path = workspace.path("logs", "access.log");
  const london = { city: { names: { en: "London" } }, location: { latitude: 51.5, longitude: -0.1 } };
  writeFileSync(workspace.path("pipelines", "places.mmdb"), placesDatabase([["10.0.0.0/24", london]]));
  writeFileSync(
    workspace.path("pipelines", "access.conf"),
    `filter {
      grok { match => { "message" => "%{COMBINEDAPACHELOG}" } }
      date { match => ["timestamp", "dd/MMM/yyyy:HH:mm:ss Z"] }
      geoip { source => "clientip" database => "places.mmdb" fields => ["city_name", "location"] }
      useragent { source => "agent" target => "ua" }
      if [response] =~ /^5/ { mutate { add_tag => "failed" } }
      else if [verb] == "HEAD" { drop { } }
      mutate { convert => { "bytes" => "integer" } remove_field => ["timestamp"] }
    }
    output {
      elasticsearch { index => "access" }
      if "failed" in [tags] { file { path => "failed.log" codec => line { format => "%{request}" } } }
      file { path => "all.log" codec => line { format => "%{request}" } }
    }`,
  );
  const total = 10_000;
  const time = accessTime(new Date(Date.UTC(2015, 4, 17, 10)));
  const agent = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
  const lines = Array.from({ length: total }, (_, n) => {
    const status = n % 50 === 0 ? 503 : 200;
    const verb = n % 10 === 3 ? "HEAD" : "GET";
    return `10.0.0.${n % 250} - - [${time}] "${verb} /item/${n} HTTP/1.1" ${status} ${n} "-" "${agent}"\n`;
  });
  appendFileSync(path, lines.slice(0, total / 2).join(""));
  const { hub } = await startStack(workspace, { input: { paths: [path] } });
  await until("the first documents", async () => (await count(hub.searchUrl, undefined, "access")) > 100);
  appendFileSync(path, lines.slice(total / 2).join(""));
  await hub.kill9();
  await hub.start();
  // One line in ten is a HEAD.
  const kept = total - total / 10;
  await until("all documents", async () => (await count(hub.searchUrl, undefined, "access")) >= kept, {
    deadlineMs: 120_000,
    everyMs: 300,
  });
  const documents = (await searchAll(hub.searchUrl, "access")).map(
    ({ _source }) => _source as Record<string, unknown>,
  );
  assert.equal(documents.length, kept);
  assert.equal(new Set(documents.map(({ request }) => request)).size, kept);
  const one = documents.find(({ request }) => request === "/item/100")!;
  assert.deepEqual(
    [one["@timestamp"], one["bytes"], one["tags"], (one["ua"] as { name: string }).name],
    ["2015-05-17T10:00:00.000Z", 100, ["failed"], "Firefox"],
  );
  const place = { ip: "10.0.0.100", city_name: "London", location: { lat: 51.5, lon: -0.1 } };
  assert.deepEqual(one["geoip"], place);
  const inFile = (name: string) =>
    new Set(
      readFileSync(workspace.path("hub-data", "out", name), "utf8")
        .trimEnd()
        .split("\n"),
    );
  // The file and the index are written side by side.
  await becomes(() => Promise.resolve(inFile("all.log").size), kept);
  await becomes(() => Promise.resolve(inFile("failed.log").size), total / 50);
});

test("pipelines of the interface are checked, run, simulated and deleted, and dead letters are replayed", async (t) => {
  const workspace = new Workspace(t);
  const path = workspace.path("logs", "app.log");
  appendFileSync(path, "a 1\n");
  const { hub } = await startStack(workspace, { input: { paths: [path] } });
  const call = async (method: string, way: string, body?: unknown) => {
    const response = await fetch(`${hub.dashboardUrl}${way}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      body: (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>,
    };
  };
  const broken = await call("PUT", "/api/pipelines/shop", { text: "filter { grok = }" });
  assert.equal(broken.status, 400);
  assert.match(JSON.stringify(broken.body), /shop:1:15: error/);
  const text = `input { agent { } }
    filter { grok { match => { "message" => "%{WORD:w} %{NUMBER:n:int}" } } if [n] < "b" { drop { } } }
    output { elasticsearch { index => "shop" } }`;
  const made = await call("PUT", "/api/pipelines/shop", { text, description: "shop" });
  assert.deepEqual([made.status, made.body["running"]], [200, true]);
  const { body } = await call("POST", "/api/pipelines/shop/simulate", { events: ["b 2"] });
  const [simulation] = body["simulations"] as {
    steps: { name: string; event: { n: number } }[];
    refused: string[];
  }[];
  assert.deepEqual([simulation!.steps[0]!.name, simulation!.steps[0]!.event.n], ["grok", 2]);
  assert.equal(simulation!.refused.length, 1);
  appendFileSync(path, "c 3\n");
  const letter = await until("the dead letter", async () => {
    const answer = await call("GET", "/api/dead-letters");
    return (answer.body["letters"] as Record<string, unknown>[])[0];
  });
  assert.equal((letter["event"] as { message: string }).message, "c 3");
  const event = { ...(letter["event"] as object), message: "now without a number" };
  await call("PUT", "/api/pipelines/shop", { text: text.replace('if [n] < "b" { drop { } }', "") });
  const replayed = await call(
    "POST",
    `/api/dead-letters/${String(letter["sequence"])}/replay?pipeline=shop`,
    { event },
  );
  assert.equal(replayed.status, 200);
  await until("the replayed event", async () => (await count(hub.searchUrl, undefined, "shop")) === 1);
  const grok = await call("POST", "/api/grok", { pattern: "%{WORD:a} %{NUMBER:b}", text: "word word" });
  assert.deepEqual(
    [grok.body["matched"], grok.body["matched_pattern"], grok.body["failed_pattern"]],
    [false, "%{WORD:a} ", "%{NUMBER:b}"],
  );
  assert.equal((await call("DELETE", "/api/pipelines/shop")).status, 204);
  assert.equal((await call("GET", "/api/pipelines/shop")).status, 404);
});
