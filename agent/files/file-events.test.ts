import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { FileInput } from "#agent/inputs/files/file-input.ts";
import { logInput } from "#agent/inputs/log.ts";
import { convert } from "#proto/kit/schema.ts";
import {
  eventsOf,
  type TestContext,
  type TestContextOptions,
  testContext,
} from "#test/support/agent/recording-output.ts";

const open: Bench[] = [];

/** A log input over a folder, driven by hand. */
class Bench {
  readonly logs: string;
  readonly #given: object;
  context: TestContext;
  input: FileInput;

  constructor(context: TestContext, given: object) {
    this.context = context;
    this.logs = join(context.folder, "logs");
    mkdirSync(this.logs, { recursive: true });
    this.#given = given;
    this.input = this.#create();
    open.push(this);
  }

  path(name: string): string {
    return join(this.logs, name);
  }

  async scan(): Promise<void> {
    await this.input.scan();
    while (this.input.busy) await turn();
  }

  async restart(): Promise<void> {
    await this.input.stop();
    this.input.release();
    this.context = await this.context.restart();
    this.input = this.#create();
  }

  get texts(): string[] {
    return eventsOf(this.context).map(({ message }) => message);
  }

  #create(): FileInput {
    const settings = convert(logInput.schema, {
      paths: [join(this.logs, "*.log")],
      scan_frequency: "1h",
      ...structuredClone(this.#given),
    });
    const input = logInput.create(settings as never, this.context) as FileInput;
    input.startReading();
    return input;
  }
}

afterEach(async () => {
  for (const bench of open.splice(0)) {
    await bench.input.stop();
    bench.input.release();
    await bench.context.dispose();
  }
});

async function bench(given: object, options: TestContextOptions = {}): Promise<Bench> {
  return new Bench(await testContext(options), given);
}

const MULTILINE = { "multiline.pattern": "^ ", "multiline.timeout": "5s" };

test("a checkpoint stands at an event's start: after a restart a stack trace is still one event", async () => {
  const b = await bench(MULTILINE);
  writeFileSync(b.path("a.log"), "one\nError\n at a\n");
  await b.scan();
  assert.deepEqual(b.texts, ["one"]);
  await b.restart();
  appendFileSync(b.path("a.log"), " at b\ntwo\n");
  await b.scan();
  assert.deepEqual(b.texts, ["Error\n at a\n at b"]);
});

test("the last event of a file is sent when its time is over, and cut there again after a crash", async () => {
  const b = await bench(MULTILINE);
  b.context.output.acking = false;
  writeFileSync(b.path("a.log"), "Error\n at a\n");
  await b.scan();
  b.context.clock.ms += 6_000;
  b.input.wakeAll();
  while (b.input.busy) await turn();
  assert.deepEqual(b.texts, ["Error\n at a"]);
  appendFileSync(b.path("a.log"), " at b\ntwo\n");
  await b.restart();
  await b.scan();
  assert.deepEqual(b.texts, ["Error\n at a", " at b"]);
});

test("events longer than a batch stay whole", async () => {
  const b = await bench(MULTILINE, { batchBytes: 16_384 });
  const trace = `Error\n${" at somewhere\n".repeat(4_000)}`;
  writeFileSync(b.path("a.log"), `${trace}next\n`);
  const longer = await bench({ ...MULTILINE, "multiline.max_lines": 10_000 }, { batchBytes: 16_384 });
  writeFileSync(longer.path("a.log"), `${trace}next\nend\n`);
  await longer.scan();
  assert.deepEqual(longer.texts, [trace.trimEnd(), "next"]);
  await b.scan();
  assert.deepEqual(
    b.texts.map((text) => text.split("\n").length),
    [...Array(8).fill(500), 1],
    "500 lines each",
  );
  assert.equal(b.texts.join("\n"), trace.trimEnd());
});

test("lines that are all left out are committed, and not read again after a restart", async () => {
  const b = await bench({ exclude_lines: ["."] });
  writeFileSync(b.path("a.log"), "x\n".repeat(100_000));
  await b.scan();
  assert.deepEqual(b.texts, []);
  const sent = b.context.output.sent;
  assert.deepEqual([sent[0]!.from, sent.at(-1)!.to], [0, 200_000]);
  await b.restart();
  await b.scan();
  assert.equal(b.context.output.sent.length, 0);
});

test("many events in small batches all arrive once, in order, with exact offsets", async () => {
  const b = await bench({ include_lines: ["."], fields: {} }, { batchBytes: 16_384 });
  const lines = Array.from({ length: 5_000 }, (_, n) => `line ${n} ${"x".repeat(n % 90)}`);
  writeFileSync(b.path("a.log"), `${lines.join("\n")}\n`);
  await b.scan();
  assert.deepEqual(b.texts, lines);
  let at = 0;
  for (const { offset, message } of eventsOf(b.context)) {
    assert.equal(offset, at);
    at += message.length + 1;
  }
});

for (const [encoding, mark] of [
  ["utf-16le", Buffer.of(0xff, 0xfe)],
  ["utf-8", Buffer.of(0xef, 0xbb, 0xbf)],
] as const) {
  test(`a byte order mark is left out and the file is continued after a restart: ${encoding}`, async () => {
    const text = (value: string): Buffer => Buffer.from(value, encoding === "utf-8" ? "utf8" : "utf16le");
    const b = await bench({ encoding, include_lines: [""] });
    writeFileSync(b.path("a.log"), Buffer.concat([mark, text("één\ntwo\n")]));
    await b.scan();
    assert.deepEqual(b.texts, ["één", "two"]);
    assert.equal(b.context.output.sent[0]!.from, mark.length);
    await b.restart();
    appendFileSync(b.path("a.log"), text("three\n"));
    await b.scan();
    assert.deepEqual(b.texts, ["three"]);
  });
}

test("a byte order mark is left out of blocks too, and the first line isn't taken for the rest of one", async () => {
  const b = await bench({});
  writeFileSync(b.path("a.log"), "\ufeffone\n");
  await b.scan();
  const [sent] = b.context.output.sent;
  assert.deepEqual([sent!.data.toString(), sent!.from, sent!.firstLineContinued], ["one\n", 3, false]);
});

test("the unfinished last event of a rotated file is sent after a time without writes", async () => {
  const b = await bench(MULTILINE);
  writeFileSync(b.path("a.log"), "one\n 1\n 2");
  await b.scan();
  renameSync(b.path("a.log"), b.path("a.old"));
  await b.scan();
  b.context.clock.ms += 6_000;
  await b.scan();
  b.input.wakeAll();
  while (b.input.busy) await turn();
  assert.deepEqual(b.texts, ["one\n 1\n 2"]);
});

test("a hole of 20 MB of NULs costs no memory and sends nothing, and the text after it arrives", async () => {
  for (const given of [{}, { include_lines: ["."] }]) {
    const b = await bench(given, { batchBytes: 65_536 });
    writeFileSync(b.path("a.log"), Buffer.concat([Buffer.alloc(20 << 20), Buffer.from("text\n")]));
    await b.scan();
    const { sent } = b.context.output;
    assert.equal(sent.at(-1)!.to, (20 << 20) + 5);
    const bytes = sent.reduce((sum, { data }) => sum + data.length, 0);
    assert.ok(bytes < 10_000, `${bytes} bytes sent`);
  }
});

test("a rewind sends events again at the same places", async () => {
  const b = await bench(MULTILINE, { confirmsCommits: true });
  writeFileSync(b.path("a.log"), "a\n 1\nb\n 2\nc\n");
  await b.scan();
  const first = eventsOf(b.context);
  b.input.rewind();
  while (b.input.busy) await turn();
  assert.deepEqual(eventsOf(b.context), [...first, ...first]);
});
