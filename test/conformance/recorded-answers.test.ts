/**
 * Recorded answers of a 6.5.4 server, in a folder beside the checkout (`../shared`, or TAILRACE_SHARED).
 * `recorded-answers.json` lists the requests that are answered differently, each with its reason. A difference that isn't
 * listed is a regression; a listed request that is answered alike makes the list stale.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { isObject } from "#proto/kit/json.ts";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { suiteFile } from "./shared-suites.ts";

interface RecordedAnswer {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly status: number;
  readonly answer: unknown;
}

/** The module beside the answers that makes their documents. */
interface Documents {
  readonly indices: readonly string[];
  settings(index: string): unknown;
  bulk(index: string): Iterable<string>;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const ANSWERS = suiteFile("answers-6.5.4", "answers.json");

/** Keys whose values differ from server to server. */
const LEFT_OUT =
  /^(?:took|_shards|_scroll_id|_node|_shard|node|root_cause|cluster_name|.*creation_date)$|uuid/;

/** Relative difference up to which numbers are equal. */
const TOLERANCE = 1e-4;

const expected = JSON.parse(
  readFileSync(join(import.meta.dirname, "recorded-answers.json"), "utf8"),
) as Readonly<Record<string, readonly string[]>>;
const listed = new Set(Object.values(expected).flat());

suite("recorded answers of a 6.5.4 server", { skip: ANSWERS.missing }, () => {
  const workspace = new Workspace();
  let hub: TestHub;
  let differing: ReadonlyMap<string, string> = new Map();

  before(async () => {
    hub = await startHub({ dataDir: workspace.path("data", "hub"), settings: { "hub.threads": 2 } });
    await fill(hub.searchUrl);
    differing = await compareAll(hub.searchUrl);
  });
  after(async () => {
    await hub?.stop();
    await workspace.close();
  });

  test("every request that is answered differently is listed with its reason", () => {
    assert.deepEqual(
      [...differing].filter(([name]) => !listed.has(name)),
      [],
    );
  });

  test("every listed request is still answered differently", () => {
    assert.deepEqual(
      [...listed].filter((name) => !differing.has(name)),
      [],
    );
  });
});

async function fill(url: string): Promise<void> {
  const documents = (await import(suiteFile("answers-6.5.4", "documents.mjs").path)) as Documents;
  for (const index of documents.indices) {
    await ask(url, "PUT", `/${index}`, documents.settings(index));
    for (const body of documents.bulk(index)) {
      const { body: answer } = await ask(url, "POST", "/_bulk", body);
      assert.ok(isObject(answer) && answer["errors"] === false, "every document is stored");
    }
    await ask(url, "POST", `/${index}/_forcemerge?max_num_segments=1`);
    await ask(url, "POST", `/${index}/_refresh`);
  }
}

/** Returns the first difference of each request that has one, by name. */
async function compareAll(url: string): Promise<Map<string, string>> {
  const differing = new Map<string, string>();
  for (const each of JSON.parse(readFileSync(ANSWERS.path, "utf8")) as RecordedAnswer[]) {
    const { status, body } = await ask(url, each.method, each.path, each.body);
    const difference =
      status === each.status ? differenceOf(each.answer, body, "") : `status ${each.status}, here ${status}`;
    if (difference !== undefined) differing.set(each.name, difference);
  }
  return differing;
}

async function ask(url: string, method: string, path: string, body?: unknown): Promise<Answer> {
  const text = body === undefined || body === null || typeof body === "string" ? body : JSON.stringify(body);
  const type = /_bulk|_msearch/.test(path) ? "application/x-ndjson" : "application/json";
  const response = await fetch(url + path, {
    // fetch sends no body with GET.
    method: method === "GET" && typeof text === "string" ? "POST" : method,
    headers: { "content-type": type },
    ...(typeof text === "string" && { body: text }),
  });
  const answer = await response.text();
  try {
    return { status: response.status, body: JSON.parse(answer) };
  } catch {
    return { status: response.status, body: answer };
  }
}

/** Returns the first path at which two answers differ; undefined where they are equal. */
function differenceOf(real: unknown, own: unknown, path: string): string | undefined {
  if (typeof real === "number" && typeof own === "number") {
    const near = Math.abs(real - own) <= TOLERANCE * Math.max(1, Math.abs(real));
    return near ? undefined : `${path}: ${real}, here ${own}`;
  }
  if (!isContainer(real) || !isContainer(own))
    return real === own ? undefined : `${path}: ${JSON.stringify(real)}, here ${JSON.stringify(own)}`;
  for (const key of new Set([...Object.keys(real), ...Object.keys(own)])) {
    if (LEFT_OUT.test(key)) continue;
    if (!Object.hasOwn(real, key)) return `${path}.${key}: only here`;
    if (!Object.hasOwn(own, key)) return `${path}.${key}: not here`;
    const difference = differenceOf(real[key], own[key], `${path}.${key}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
