import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { PipelineDefinition } from "#hub/pipeline/language/pipeline-definition.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { ManagedPipelines } from "./managed-pipelines.ts";
import { PipelineControl, type PipelineRunner } from "./pipeline-control.ts";

const GOOD = 'filter { mutate { add_tag => "a" } }';

/** Takes over what it is told, as the pipeline does. */
class Runner implements PipelineRunner {
  definitions: readonly PipelineDefinition[] = [];
  reloads = 0;
  /** Set: changes are refused with it. */
  refusal = "";
  reload(definitions: readonly PipelineDefinition[]): Promise<void> {
    if (this.refusal !== "") return Promise.reject(new AppError("settings_invalid", this.refusal));
    this.definitions = definitions;
    this.reloads++;
    return Promise.resolve();
  }
  get ids(): string[] {
    return this.definitions.map(({ id }) => id);
  }
}

async function setting(t: TestContext, bucket = new MemoryBucket()) {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-control-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const control = new PipelineControl({
    files: { paths: [join(folder, "*.conf")], pipelinesFile: "" },
    managed: new ManagedPipelines(bucket),
    automatic: false,
    intervalMs: 1_000,
    log: silentLogger(),
    clock: systemClock,
  });
  const runner = new Runner();
  runner.definitions = await control.initial();
  control.follow(runner);
  return { folder, control, runner };
}

const put = (control: PipelineControl, id: string, text: string, revision?: number) =>
  control.put(id, { text, description: "", by: "ada" }, revision);

test("a pipeline is checked, stored and run, and gone when it is deleted", async (t) => {
  const bucket = new MemoryBucket();
  const { control, runner } = await setting(t, bucket);
  const { revision } = await put(control, "shop", GOOD);
  assert.deepEqual(runner.ids, ["shop"]);
  assert.equal((await control.get("shop")).managed?.updatedBy, "ada");
  // Another hub, or this one after a restart, runs it too.
  assert.deepEqual((await setting(t, bucket)).runner.ids, ["shop"]);
  await control.delete("shop", revision);
  assert.deepEqual(runner.ids, []);
  await assert.rejects(control.get("shop"), { code: "not_found" });
});

test("a pipeline with faults changes nothing and is reported with its position", async (t) => {
  const { control, runner } = await setting(t);
  await put(control, "shop", GOOD);
  await assert.rejects(put(control, "shop", "filter { grok = }"), /shop:1:15: error/);
  assert.equal((await control.get("shop")).managed?.text, GOOD);
  assert.equal(runner.reloads, 1);
});

test("a change that was made from an older state is refused", async (t) => {
  const { control } = await setting(t);
  const { revision } = await put(control, "shop", GOOD);
  await put(control, "shop", `${GOOD} `, revision);
  await assert.rejects(put(control, "shop", GOOD, revision), { code: "journal_conflict" });
});

test("files are read again on demand; broken ones leave what runs, a pipeline of files can't be changed here", async (t) => {
  const { folder, control, runner } = await setting(t);
  writeFileSync(join(folder, "a.conf"), GOOD);
  await control.refresh();
  assert.deepEqual(runner.ids, ["main"]);
  await assert.rejects(put(control, "main", GOOD), /is defined by .*a\.conf/);
  writeFileSync(join(folder, "a.conf"), "filter { grok = }");
  runner.refusal = "a.conf:1:15: error";
  await assert.rejects(control.refresh(), { message: runner.refusal });
  assert.deepEqual([runner.ids, control.problem], [["main"], runner.refusal]);
  runner.refusal = "";
  rmSync(join(folder, "a.conf"));
  await control.refresh();
  assert.deepEqual([runner.ids, runner.reloads, control.problem], [[], 2, ""]);
});

test("ids and texts are bounded", async (t) => {
  const { control } = await setting(t);
  await assert.rejects(put(control, "a/b", GOOD), { code: "request_invalid" });
  await assert.rejects(put(control, "a", `${GOOD}${" ".repeat(600_000)}`), { code: "request_too_large" });
});
