/** Tests of the search for secrets in output: it must find a planted one. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { keepSecret, outputWithSecrets } from "./secrets.ts";
import { Workspace } from "./workspace.ts";

/** Has characters that an address spells in another way. */
const SECRET = "correct horse/battery";

test("a secret in a log is found, plain and URL-encoded, and data files are not searched", async (t) => {
  const outer = new Workspace(t);
  const workspace = new Workspace();
  keepSecret(SECRET);
  for (const [path, text] of [
    ["hub.log", `password=${SECRET}`],
    ["agents/a/out.log", `GET /token?client_secret=${encodeURIComponent(SECRET)}`],
    ["clean.log", "correct horse"],
    ["first.log", `open http://127.0.0.1/api/auth/setup/${SECRET} to begin`],
    ["hub-data/nats/jetstream/x.log", SECRET],
    ["hub-data/registry/000003.log", SECRET],
  ] as const) {
    writeFileSync(workspace.path(path), text);
  }
  assert.deepEqual(outputWithSecrets(workspace.folder).toSorted(), ["agents/a/out.log", "hub.log"]);
  await assert.rejects(workspace.close(), /printed to .*hub\.log/);
  assert.throws(() => keepSecret("short"), /5 characters/);
  assert.deepEqual(outputWithSecrets(outer.folder), []);
});
