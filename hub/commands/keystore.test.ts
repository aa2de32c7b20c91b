import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Keystore, pipelineVariables, shownVariables } from "#hub/node/settings/keystore.ts";
import { parseKeystoreCommand, runKeystoreCommand } from "./keystore.ts";
import { parsePipelineCommand, runPipelineCommand } from "./pipeline.ts";

function dataFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "keystore-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("secrets are sealed in a file of their owner, and pipelines have them before the environment", async (t) => {
  const folder = dataFolder(t);
  const env = { DB_PASSWORD: "of the environment", HOME: "/root", TAILRACE_VAULT_KEYS: "" };
  assert.equal(await Keystore.open(folder, env), undefined);
  const made = await Keystore.create(folder, env);
  made.set("DB_PASSWORD", "geheim");
  made.set("OTHER", "x");
  made.remove("OTHER");
  for (const file of ["keystore", "keystore.key"])
    assert.equal(statSync(join(folder, file)).mode & 0o777, 0o600, file);
  assert.doesNotMatch(readFileSync(join(folder, "keystore"), "utf8"), /geheim/);
  assert.deepEqual(await pipelineVariables(folder, env), { DB_PASSWORD: "geheim", HOME: "/root" });
  assert.deepEqual(await shownVariables(folder, env), { DB_PASSWORD: "<DB_PASSWORD>", HOME: "/root" });
});

test("a keystore that others can read, that was changed, or whose key is gone is refused with the remedy", async (t) => {
  const folder = dataFolder(t);
  const path = join(folder, "keystore");
  const made = await Keystore.create(folder, {});
  made.set("A", "1");
  made.set("B", "2");
  await assert.rejects(Keystore.create(folder, {}), { code: "name_taken" });
  assert.throws(() => made.set("1st", "x"), /not beginning with a digit/);
  assert.throws(() => made.remove("C"), { code: "not_found" });
  chmodSync(path, 0o644);
  await assert.rejects(Keystore.open(folder, {}), /chmod 600/);
  chmodSync(path, 0o600);
  const text = readFileSync(path, "utf8");
  const { entries } = JSON.parse(text) as { entries: { A: string; B: string } };
  writeFileSync(path, JSON.stringify({ version: 1, entries: { A: entries.B } }));
  const moved = await Keystore.open(folder, {});
  assert.throws(() => moved?.values(), { code: "data_corrupt" });
  writeFileSync(path, "{}");
  await assert.rejects(Keystore.open(folder, {}), { code: "data_corrupt" });
  writeFileSync(path, text);
  rmSync(join(folder, "keystore.key"));
  await assert.rejects(Keystore.open(folder, {}), /is missing, but secrets are sealed/);
});

test("the command makes, lists and removes, and a check of a pipeline resolves the names", async (t) => {
  const folder = dataFolder(t);
  const run = (...args: string[]) =>
    runKeystoreCommand(parseKeystoreCommand([...args, "--path.data", folder]), {});
  await assert.rejects(run("remove", "A"), /run tailrace-hub keystore create/);
  assert.match(await run("create"), /empty keystore/);
  (await Keystore.open(folder, {}))!.set("A_KEY", "x");
  assert.equal(await run("list"), "A_KEY\n");
  const file = join(folder, "a.conf");
  const variable = "$" + "{A_KEY}";
  writeFileSync(file, `output { http { url => "http://a/${variable}" } }\n`);
  const check = (...place: string[]) =>
    runPipelineCommand(parsePipelineCommand(["check", file, ...place]), {});
  assert.equal((await check("--path.data", folder)).isOk, true);
  assert.match(await run("remove", "A_KEY"), /removed from the keystore/);
  assert.match((await check("--path.data", folder)).output, /keystore add A_KEY/);
  for (const [args, expected] of [
    [["ad"], /did you mean "add"/],
    [["add"], /needs NAME/],
    [["list", "A"], /unexpected argument/],
  ] as const)
    assert.throws(() => parseKeystoreCommand(args), expected);
});
