/**
 * What programs ask a 6.5 engine when they start and while they run, request by request as they send it: shippers,
 * dashboards, tools of operators. Each row says what of the answer the program needs to continue.
 */

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { DASHBOARDS } from "./start-up-dashboards.ts";
import { SHIPPERS } from "./start-up-shippers.ts";
import { STREAMS } from "./start-up-streams.ts";
import { TOOLS } from "./start-up-tools.ts";

type Json = Record<string, unknown>;

const PROGRAMS = { ...SHIPPERS, ...STREAMS, ...DASHBOARDS, ...TOOLS };

suite("requests that programs send when they start and while they run", () => {
  const workspace = new Workspace();
  let hub: TestHub;
  before(async () => {
    hub = await startHub({ dataDir: workspace.path("data", "hub") });
  });
  after(async () => {
    await hub?.stop();
    await workspace.close();
  });

  for (const [program, asks] of Object.entries(PROGRAMS)) {
    // One program's data is the next one's.
    test(`${program} gets what it needs`, async () => {
      for (const { ask, body, status, at = {} } of asks) {
        const answer = await send(hub.searchUrl, ask, body);
        assert.equal(answer.status, status, `${ask}: ${answer.text.slice(0, 600)}`);
        for (const [path, wanted] of Object.entries(at)) {
          const found = valueAt(answer.json, path);
          const where = `${ask}: ${path} in ${answer.text.slice(0, 600)}`;
          if (wanted instanceof RegExp) assert.match(String(found), wanted, where);
          else assert.deepEqual(found, wanted, where);
        }
      }
      if (program === "Logstash 6") await send(hub.searchUrl, "POST /_refresh", undefined);
    });
  }
});

async function send(
  url: string,
  ask: string,
  body: object | string | undefined,
): Promise<{ status: number; text: string; json: unknown }> {
  const [given = "", path = ""] = ask.split(" ");
  // fetch sends no body with GET; these programs' servers take POST for the same.
  const method = given === "GET" && body !== undefined ? "POST" : given;
  const type = typeof body === "string" ? "application/x-ndjson" : "application/json";
  const response = await fetch(url + path, {
    method,
    ...(body !== undefined && {
      headers: { "content-type": type },
      body: typeof body === "string" ? body : JSON.stringify(body),
    }),
  });
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: response.status, text, json };
}

/** Value at dotted keys; `*` is the first key, `\.` a dot within one. */
function valueAt(json: unknown, path: string): unknown {
  const keys = path.split(/(?<!\\)\./).map((key) => key.replaceAll("\\.", "."));
  return keys.reduce<unknown>((value, key) => {
    if (typeof value !== "object" || value === null) return undefined;
    return (value as Json)[key === "*" ? Object.keys(value)[0]! : key];
  }, json);
}
