import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { FileInput } from "#agent/inputs/files/file-input.ts";
import { containerFields, podOfPath } from "#agent/inputs/kubernetes/kubernetes-api.ts";
import { convert } from "#proto/kit/schema.ts";
import { eventsOf, type TestContext, testContext } from "#test/support/agent/recording-output.ts";
import { containerInput } from "./container.ts";

const cri = (tag: string, text: string, stream = "stdout"): string =>
  `2026-11-21T00:00:01Z ${stream} ${tag} ${text}\n`;

const inputs = new Set<FileInput>();
const contexts = new Set<TestContext>();

afterEach(async () => {
  for (const input of inputs) await close(input);
  for (const context of contexts) await context.dispose();
  contexts.clear();
});

async function newContext(): Promise<TestContext> {
  const context = await testContext();
  contexts.add(context);
  return context;
}

async function restarted(context: TestContext): Promise<TestContext> {
  contexts.delete(context);
  const again = await context.restart();
  contexts.add(again);
  return again;
}

/** Opens an input over <folder>/logs; scans are made by hand. */
function inputOver(context: TestContext, given: object = {}): FileInput {
  const settings = convert(containerInput.schema, {
    paths: [join(context.folder, "logs", "*.log")],
    scan_frequency: "1h",
    ...given,
  });
  const input = containerInput.create(settings as never, context) as FileInput;
  input.startReading();
  inputs.add(input);
  return input;
}

async function settle(input: FileInput): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await input.scan();
    while (input.busy) await turn();
  }
}

async function close(input: FileInput): Promise<void> {
  inputs.delete(input);
  await input.stop();
  input.release();
}

const texts = (context: TestContext): string[] => eventsOf(context).map(({ message }) => message);

/** Events with their places, in no order: files take turns. */
const byOffset = (context: TestContext): string[] =>
  eventsOf(context)
    .map(({ offset, message }) => `${offset} ${message}`)
    .sort();

for (const acking of [true, false]) {
  test(`a line whose pieces stand in two files arrives once, ${acking ? "running" : "also when the agent dies before the acknowledgement"}`, async () => {
    let context = await newContext();
    context.output.acking = acking;
    const logs = join(context.folder, "logs");
    mkdirSync(logs);
    const file = join(logs, "0.log");
    let input = inputOver(context);
    writeFileSync(file, cri("F", "one") + cri("P", "be") + cri("F", "err", "stderr"));
    await settle(input);
    assert.deepEqual(texts(context), ["one"]);
    renameSync(file, `${file}.20261121`);
    writeFileSync(file, cri("P", "gin"));
    await settle(input);
    assert.deepEqual(texts(context), ["one"], "the rest isn't there yet");
    appendFileSync(file, cri("F", " end") + cri("F", "two"));
    await settle(input);
    if (!acking) {
      // The line was sent, not acknowledged; what the new start sends must be cut at the same places.
      const before = byOffset(context);
      await close(input);
      context = await restarted(context);
      input = inputOver(context);
      await settle(input);
      assert.deepEqual(byOffset(context), before);
    }
    assert.deepEqual(texts(context).sort(), ["begin end", "err", "one", "two"]);
  });
}

test("a piece at the end of a file is joined although the rotation took place while the agent was away", async () => {
  let context = await newContext();
  const logs = join(context.folder, "logs");
  mkdirSync(logs);
  const file = join(logs, "0.log");
  let input = inputOver(context);
  writeFileSync(file, cri("F", "one") + cri("P", "be"));
  await settle(input);
  await close(input);
  renameSync(file, `${file}.20261121`);
  writeFileSync(file, cri("F", "gin") + cri("F", "two"));
  context = await restarted(context);
  input = inputOver(context);
  await settle(input);
  assert.deepEqual(texts(context), ["begin", "two"]);
});

test("a file that is whole at its end delays its successor by nothing", async () => {
  const context = await newContext();
  const logs = join(context.folder, "logs");
  mkdirSync(logs);
  const file = join(logs, "0.log");
  const input = inputOver(context);
  writeFileSync(file, cri("F", "one"));
  await settle(input);
  renameSync(file, `${file}.1`);
  writeFileSync(file, cri("F", "two"));
  await settle(input);
  assert.deepEqual(texts(context), ["one", "two"]);
});

const ID = "0123456789abcdef".repeat(4);
for (const [path, expected] of [
  [
    `/var/log/containers/web-1_shop_nginx-${ID}.log`,
    { namespace: "shop", pod: "web-1", uid: "", container: "nginx", containerId: ID },
  ],
  [
    "/var/log/pods/shop_web-1_12ab-34/nginx/0.log",
    { namespace: "shop", pod: "web-1", uid: "12ab-34", container: "nginx", containerId: "" },
  ],
  [
    "/var/log/pods/shop_web-1_12ab-34/nginx/3.log.20261121-010203",
    { namespace: "shop", pod: "web-1", uid: "12ab-34", container: "nginx", containerId: "" },
  ],
  ["/var/log/nginx/access.log", null],
] as const) {
  test(`the pod is read from ${path.replace(ID, "…")}`, () => {
    assert.deepEqual(podOfPath(path), expected);
  });
}

test("the id of a Docker container is read from its path", () => {
  assert.deepEqual(containerFields(`/var/lib/docker/containers/${ID}/${ID}-json.log`), {
    container: { id: ID },
  });
});
