import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext as NodeTest, test } from "node:test";
import type { InputContext } from "#agent/contract/input.ts";
import { logInput } from "#agent/inputs/log.ts";
import { convert } from "#proto/kit/schema.ts";
import { type TestContext, testContext } from "#test/support/agent/recording-output.ts";
import type { FileInput } from "./file-input.ts";

/** Returns an input over <folder>/logs with one file; `during` runs once while a scan looks at that file. */
async function inputWith(
  t: NodeTest,
  during: (logs: string) => void,
  given: object = {},
): Promise<{ input: FileInput; context: TestContext }> {
  const context = await testContext();
  const logs = join(context.folder, "logs");
  mkdirSync(logs);
  writeFileSync(join(logs, "a.log"), "one\n");
  let isDone = false;
  const isOwnFile: InputContext["isOwnFile"] = () => {
    if (!isDone) during(logs);
    isDone = true;
    return false;
  };
  const settings = convert(logInput.schema, { paths: [join(logs, "*.log")], scan_frequency: "1h", ...given });
  const input = logInput.create(settings as never, { ...context, isOwnFile }) as FileInput;
  t.after(async () => {
    await input.stop();
    input.release();
    await context.dispose();
  });
  input.startReading();
  return { input, context };
}

const textOf = ({ output }: TestContext): string =>
  output.sent
    .map(({ data }) => data.toString())
    .sort()
    .join("");

test("a file that appears while its folder is searched for the first time doesn't wait for the next search", async (t) => {
  const { input, context } = await inputWith(t, (logs) => writeFileSync(join(logs, "b.log"), "two\n"));
  await input.scan();
  await context.output.until(() => context.output.sent.length === 2);
  assert.equal(textOf(context), "one\ntwo\n");
});

test("tail_files skips existing lines, although the file grows during the first search", async (t) => {
  const grow = (logs: string): void => appendFileSync(join(logs, "a.log"), "two\n");
  const { input, context } = await inputWith(t, grow, { tail_files: true });
  await input.scan();
  appendFileSync(join(context.folder, "logs", "a.log"), "three\n");
  await context.output.until(() => textOf(context).includes("three"));
  assert.doesNotMatch(textOf(context), /one/);
});
