import assert from "node:assert/strict";
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { type TestContext, type TestContextOptions, testContext } from "#agent/inputs/testing.ts";
import { newRow } from "#agent/registry/row.ts";
import { FileSet, type FileSetOptions } from "./file-set.ts";
import { fileKey, systemTellsBirth } from "./identity.ts";
import { compilePattern } from "./pattern.ts";
import { scan } from "./scanner.ts";

const DEFAULTS: FileSetOptions = {
  inputType: "log",
  createFormat: null,
  fieldsOf: null,
  awaitsFields: null,
  wideText: false,
  joinsRotated: false,
  closeInactiveMs: 300_000,
  closeRemoved: false,
  closeRenamed: false,
  closeEof: false,
  deleteAfterMs: null,
  closeTimeoutMs: 0,
  ignoreOlderMs: 0,
  cleanInactiveMs: 0,
  cleanRemoved: true,
  tailFiles: false,
  harvesterLimit: 0,
  maxBytes: 1_048_576,
  quietMs: 5_000,
};

/** More than the head fingerprint covers. */
const LONG = Array.from({ length: 100 }, (_, index) => `${index} ${"x".repeat(30)}\n`).join("");

class Bench {
  readonly logs: string;
  readonly pattern: string;
  context: TestContext;
  files: FileSet;
  readonly #options: FileSetOptions;

  constructor(context: TestContext, options: Partial<FileSetOptions>, pattern: string) {
    this.context = context;
    this.#options = { ...DEFAULTS, ...options };
    this.logs = join(context.folder, "logs");
    mkdirSync(this.logs, { recursive: true });
    this.pattern = join(this.logs, pattern);
    this.files = this.#open();
  }

  path(name: string): string {
    return join(this.logs, name);
  }

  /** Scans once and waits until everything there is to read is read. */
  async scan(): Promise<void> {
    const options = { patterns: compilePattern(this.pattern), symlinks: false, exclude: () => false };
    this.files.update(await scan(options, new AbortController().signal));
    while (this.files.busy) await turn();
  }

  /** Text sent of all generations of all files, in the order of sending. */
  get text(): string {
    return Buffer.concat(this.context.output.sent.map(({ data }) => data)).toString("latin1");
  }

  async restart(): Promise<void> {
    await this.files.stop();
    this.files.close();
    this.context = await this.context.restart();
    this.files = this.#open();
  }

  #open(): FileSet {
    const files = new FileSet(this.#options, this.context);
    files.start();
    return files;
  }
}

const benches: Bench[] = [];

afterEach(async () => {
  for (const bench of benches.splice(0)) {
    await bench.files.stop();
    bench.files.close();
    await bench.context.dispose();
  }
});

async function bench(
  options: Partial<FileSetOptions> = {},
  context: TestContextOptions = {},
  pattern = "*.log*",
): Promise<Bench> {
  const made = new Bench(await testContext(context), options, pattern);
  benches.push(made);
  return made;
}

test("lines are sent as they are, with exact offsets, and only once", async () => {
  const b = await bench();
  const content = Buffer.from("a\r\nb\0c\n\xff\xfe\n\n\t\u001b[1mend\n", "latin1");
  writeFileSync(b.path("a.log"), content);
  await b.scan();
  appendFileSync(b.path("a.log"), "more\n");
  await b.scan();
  await b.scan();
  assert.equal(b.text, `${content.toString("latin1")}more\n`);
  assert.deepEqual(
    b.context.output.sent.map(({ from, to }) => [from, to]),
    [
      [0, content.length],
      [content.length, content.length + 5],
    ],
  );
});

test("a line without an end waits for its rest", async () => {
  const b = await bench();
  writeFileSync(b.path("a.log"), "one\nabc");
  await b.scan();
  assert.equal(b.text, "one\n");
  appendFileSync(b.path("a.log"), "def\n");
  await b.scan();
  assert.equal(b.text, "one\nabcdef\n");
  assert.equal(b.context.output.sent[1]!.firstLineContinued, false);
});

test("the unfinished last line of a rotated file is sent when nobody has written for a while", async () => {
  const b = await bench({}, {}, "*.log");
  writeFileSync(b.path("a.log"), "one\nlast");
  await b.scan();
  renameSync(b.path("a.log"), b.path("a.old"));
  await b.scan();
  assert.equal(b.text, "one\n");
  b.context.clock.ms += DEFAULTS.quietMs + 1;
  await b.scan();
  assert.equal(b.text, "one\nlast");
  assert.equal(b.context.output.sent[1]!.lastLineOpen, true);
});

test("a renamed file is read on and its successor from the start", async () => {
  const b = await bench();
  writeFileSync(b.path("a.log"), "1\n");
  await b.scan();
  renameSync(b.path("a.log"), b.path("a.log.1"));
  appendFileSync(b.path("a.log.1"), "2\n");
  writeFileSync(b.path("a.log"), "3\n");
  await b.scan();
  assert.deepEqual(b.text.split("\n").sort(), ["", "1", "2", "3"]);
  assert.equal(b.context.output.sent.length, 3);
});

test("what is written to a file after it was moved out of the patterns arrives", async () => {
  const b = await bench({}, {}, "*.log");
  writeFileSync(b.path("a.log"), "1\n");
  await b.scan();
  renameSync(b.path("a.log"), b.path("elsewhere"));
  appendFileSync(b.path("elsewhere"), "2\n");
  await b.scan();
  assert.equal(b.text, "1\n2\n");
});

test("a chain of renames between two scans loses and repeats nothing", async () => {
  const b = await bench();
  for (let generation = 0; generation < 5; generation++) {
    for (let age = generation; age > 0; age--)
      renameSync(b.path(age === 1 ? "a.log" : `a.log.${age - 1}`), b.path(`a.log.${age}`));
    writeFileSync(b.path("a.log"), `${generation}\n`);
    if (generation % 2 === 0) await b.scan();
  }
  await b.scan();
  assert.deepEqual(b.text.trim().split("\n").sort(), ["0", "1", "2", "3", "4"]);
});

for (const [name, content] of [
  ["shorter", "new\n"],
  ["longer", `new ${LONG}${LONG}`],
  ["as long", "y".repeat(LONG.length - 1).concat("\n")],
  ["longer, with the same beginning", `${LONG.slice(0, 1_500)}${"z".repeat(3_000)}\n`],
] as const) {
  test(`a file truncated and rewritten with ${name} content is read from its start`, async () => {
    const b = await bench();
    writeFileSync(b.path("a.log"), LONG);
    await b.scan();
    truncateSync(b.path("a.log"));
    writeFileSync(b.path("a.log"), content);
    utimesSync(b.path("a.log"), 1, 1);
    await b.scan();
    assert.equal(b.text, LONG + content);
    const { sent } = b.context.output;
    const { generation } = sent.at(-1)!.source;
    assert.notEqual(generation, sent[0]!.source.generation);
    assert.equal(sent.find(({ source }) => source.generation === generation)!.from, 0);
  });

  test(`a file rewritten with ${name} content while the agent was away is read from its start`, async () => {
    const b = await bench();
    writeFileSync(b.path("a.log"), LONG);
    await b.scan();
    await b.restart();
    writeFileSync(b.path("a.log"), content);
    utimesSync(b.path("a.log"), 1, 1);
    await b.scan();
    assert.equal(b.text, content);
  });
}

test("rotation by copy and truncation repeats nothing and keeps what only the copy has", async () => {
  const b = await bench();
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  appendFileSync(b.path("a.log"), "only in the copy\n");
  copyFileSync(b.path("a.log"), b.path("a.log.1"));
  writeFileSync(b.path("a.log"), "new\n");
  await b.scan();
  await b.scan();
  await b.scan();
  assert.deepEqual(b.text.split("\n").sort(), `${LONG}only in the copy\nnew\n`.split("\n").sort());
});

test("rotation by copy and truncation while the agent was away repeats nothing", async () => {
  const b = await bench();
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  await b.restart();
  appendFileSync(b.path("a.log"), "only in the copy\n");
  copyFileSync(b.path("a.log"), b.path("a.log.1"));
  truncateSync(b.path("a.log"));
  await b.scan();
  await b.scan();
  assert.equal(b.text, "only in the copy\n");
});

test("a copy of which nothing is acknowledged yet waits for the original", async () => {
  const b = await bench();
  b.context.output.acking = false;
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  copyFileSync(b.path("a.log"), b.path("a.log.1"));
  await b.scan();
  writeFileSync(b.path("a.log"), "new\n");
  await b.scan();
  b.context.output.acking = true;
  for (const batch of b.context.output.sent) batch.ack();
  await b.scan();
  await b.scan();
  assert.equal(b.text, `${LONG}new\n`);
});

test("a copy goes on under the name of an original that is gone and of which nothing was acknowledged", async () => {
  const b = await bench();
  b.context.output.acking = false;
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  const [first] = b.context.output.sent;
  copyFileSync(b.path("a.log"), b.path("a.log.1"));
  await b.restart();
  rmSync(b.path("a.log"));
  await b.scan();
  await b.scan();
  const [again] = b.context.output.sent;
  assert.equal(again?.source.fileKey, first?.source.fileKey);
  assert.equal(again?.source.generation, first?.source.generation);
  assert.equal(b.text, LONG);
});

test("a copy that is still being made waits until it is whole", async () => {
  const b = await bench();
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  writeFileSync(b.path("a.log.1"), LONG.slice(0, 2_000));
  await b.scan();
  appendFileSync(b.path("a.log.1"), `${LONG.slice(2_000)}only in the copy\n`);
  truncateSync(b.path("a.log"));
  await b.scan();
  await b.scan();
  assert.equal(b.text, `${LONG}only in the copy\n`);
});

test("a copy whose original stays is taken as read, and read on where it grows", async () => {
  const b = await bench();
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  copyFileSync(b.path("a.log"), b.path("a.log.copy"));
  await b.scan();
  b.context.clock.ms += 11_000;
  await b.scan();
  appendFileSync(b.path("a.log.copy"), "grown\n");
  await b.scan();
  assert.equal(b.text, `${LONG}grown\n`);
});

test("two files that happen to hold the same few lines are both sent", async () => {
  const b = await bench();
  writeFileSync(b.path("a.log"), "started\n");
  await b.scan();
  writeFileSync(b.path("a.log.1"), "started\n");
  await b.scan();
  assert.equal(b.text, "started\nstarted\n");
});

test("a deleted file is read to its end and held open until its lines are committed", async () => {
  const b = await bench({}, { confirmsCommits: true });
  writeFileSync(b.path("a.log"), "1\n");
  await b.scan();
  const fd = openSync(b.path("a.log"), "a");
  rmSync(b.path("a.log"));
  writeSync(fd, "2\n");
  closeSync(fd);
  await b.scan();
  assert.equal(b.text, "1\n2\n");
  b.context.clock.ms += DEFAULTS.quietMs + 1;
  await b.scan();
  assert.deepEqual([b.files.state().files, b.files.state().openDeletedBytes], [1, 4]);
  for (const [, row] of b.context.registry.rows()) row.committed = 4;
  await b.scan();
  assert.deepEqual([b.files.state().files, b.files.state().openDeletedBytes], [0, 0]);
  b.context.clock.ms += 120_000;
  await b.scan();
  b.context.clock.ms += 120_000;
  await b.scan();
  assert.equal([...b.context.registry.rows()].length, 0, "the row is forgotten");
});

test("a new file that got the inode of a deleted one is read from its start", async () => {
  const b = await bench({ closeEof: true });
  writeFileSync(b.path("a.log"), "first\n");
  await b.scan();
  const { ino } = statSync(b.path("a.log"));
  await b.scan();
  assert.equal(b.files.state().files, 0);
  rmSync(b.path("a.log"));
  writeFileSync(b.path("a.log"), "second\nthird\n");
  await b.scan();
  assert.equal(b.text, "first\nsecond\nthird\n", `inode ${ino} before, ${statSync(b.path("a.log")).ino} now`);
});

test("a file replaced by renaming another one over it is read from its start, once", async () => {
  const b = await bench();
  writeFileSync(b.path("a.log"), "old\n");
  await b.scan();
  writeFileSync(b.path("temporary"), "new\n");
  renameSync(b.path("temporary"), b.path("a.log"));
  await b.scan();
  await b.scan();
  assert.equal(b.text, "old\nnew\n");
});

test("two names of one file are read once", async () => {
  const b = await bench();
  writeFileSync(b.path("a.log"), "1\n");
  linkSync(b.path("a.log"), b.path("b.log"));
  await b.scan();
  appendFileSync(b.path("b.log"), "2\n");
  await b.scan();
  assert.equal(b.text, "1\n2\n");
});

test("a line longer than max_bytes is split, marked, and followed by the next one whole", async () => {
  const b = await bench({ maxBytes: 300_000 });
  const line = "é".repeat(500_001);
  writeFileSync(b.path("a.log"), `before\n${line}\nafter\n`);
  await b.scan();
  const { sent } = b.context.output;
  const whole = Buffer.concat(sent.map(({ data }) => data)).toString();
  assert.equal(whole, `before\n${line}\nafter\n`);
  assert.deepEqual(
    sent.slice(0, 3).map(({ lastLineOpen, firstLineContinued }) => [lastLineOpen, firstLineContinued]),
    [
      [false, false],
      [true, false],
      [true, true],
    ],
  );
  for (const { data } of sent) assert.ok(!data.toString().includes("\ufffd"), "a character was cut");
  assert.equal(sent.at(-1)!.lastLineOpen, false);
});

test("a line longer than a batch but not than max_bytes stays whole", async () => {
  const b = await bench();
  const line = "x".repeat(700_000);
  writeFileSync(b.path("a.log"), `${line}\nafter\n`);
  await b.scan();
  assert.deepEqual(
    b.context.output.sent.map(({ data, lastLineOpen }) => [data.length, lastLineOpen]),
    [[700_007, false]],
  );
});

test("lines shorter than a batch are split at a small max_bytes", async () => {
  const b = await bench({ maxBytes: 1_024 });
  const content = `short\n${"l".repeat(2_500)}\nshort\n`;
  writeFileSync(b.path("a.log"), content);
  await b.scan();
  assert.equal(b.text, content);
  for (const line of b.context.output.sent.flatMap(({ data }) => data.toString().split("\n"))) {
    assert.ok(line.length <= 1_024);
  }
});

test("a line of 50 MB passes in bounded memory", async () => {
  const b = await bench({}, { slots: 2 });
  const fd = openSync(b.path("a.log"), "w");
  const part = Buffer.alloc(1_000_000, "q");
  for (let count = 0; count < 50; count++) writeSync(fd, part);
  writeSync(fd, "\nnext\n");
  closeSync(fd);
  let length = 0;
  await b.scan();
  for (const { data } of b.context.output.sent) length += data.length;
  assert.equal(length, 50_000_006);
  assert.ok(b.context.output.sent.every(({ data }) => data.length <= DEFAULTS.maxBytes));
});

for (const length of [65_535, 65_536, 65_537, 131_071, 131_072, 131_073]) {
  test(`lines of ${length} bytes, around the size of buffers, arrive unchanged`, async () => {
    const b = await bench({}, { batchBytes: 65_536 });
    const content = `${"a".repeat(length - 1)}\n${"b".repeat(length - 1)}\nend\n`;
    writeFileSync(b.path("a.log"), content);
    await b.scan();
    assert.ok(b.text === content);
  });
}

test("offsets beyond 2^32 are exact", async () => {
  const b = await bench();
  const offset = 2 ** 32 + 10;
  const fd = openSync(b.path("a.log"), "w");
  ftruncateSync(fd, offset);
  writeSync(fd, "far out\n", offset);
  closeSync(fd);
  b.context.registry.put(
    fileKey(statSync(b.path("a.log"), { bigint: true }), true),
    newRow("test", b.path("a.log"), offset, 0),
  );
  await b.scan();
  const [batch] = b.context.output.sent;
  assert.deepEqual([batch!.from, batch!.to, b.text], [offset, offset + 8, "far out\n"]);
});

test("nothing is read while the output has no slot, and everything when it has", async () => {
  const b = await bench({}, { slots: 1, batchBytes: 16_384 });
  b.context.output.acking = false;
  writeFileSync(b.path("a.log"), LONG.repeat(20));
  const options = { patterns: compilePattern(b.pattern), symlinks: false, exclude: () => false };
  b.files.update(await scan(options, new AbortController().signal));
  await b.context.output.until(() => b.context.output.sent.length === 1);
  for (let turns = 0; turns < 20; turns++) await turn();
  assert.equal(b.context.output.sent.length, 1);
  b.context.output.acking = true;
  b.context.output.sent[0]!.ack();
  while (b.files.busy) await turn();
  assert.equal(b.text, LONG.repeat(20));
});

test("after a restart reading goes on behind the last acknowledged byte, not behind the last read one", async () => {
  const b = await bench({}, { batchBytes: 16_384 });
  b.context.output.acking = false;
  writeFileSync(b.path("a.log"), LONG.repeat(12));
  const options = { patterns: compilePattern(b.pattern), symlinks: false, exclude: () => false };
  b.files.update(await scan(options, new AbortController().signal));
  await b.context.output.until(() => b.context.output.sent.length === 3);
  const [first, , third] = b.context.output.sent;
  first!.ack();
  third!.ack();
  const from = first!.to;
  await b.restart();
  await b.scan();
  assert.equal(b.context.output.sent[0]!.from, from);
});

test("a rewind sends again what isn't committed, and nothing below", async () => {
  const b = await bench({}, { confirmsCommits: true });
  writeFileSync(b.path("a.log"), "1\n2\n3\n");
  await b.scan();
  for (const [, row] of b.context.registry.rows()) row.committed = 2;
  b.files.rewind();
  while (b.files.busy) await turn();
  assert.equal(b.text, "1\n2\n3\n2\n3\n");
  assert.equal(b.context.output.sent[1]!.firstLineContinued, false);
});

test("a closed file is rewound too", async () => {
  const b = await bench({ closeEof: true }, { confirmsCommits: true });
  writeFileSync(b.path("a.log"), "1\n2\n");
  await b.scan();
  await b.scan();
  assert.equal(b.files.state().files, 0);
  b.files.rewind();
  await b.scan();
  assert.equal(b.text, "1\n2\n1\n2\n");
});

test("an inactive file is closed, and read on when it grows", async () => {
  const b = await bench();
  writeFileSync(b.path("a.log"), "1\n");
  await b.scan();
  b.context.clock.ms += DEFAULTS.closeInactiveMs + 1;
  await b.scan();
  assert.equal(b.files.state().files, 0);
  await b.scan();
  assert.equal(b.files.state().files, 0);
  appendFileSync(b.path("a.log"), "2\n");
  await b.scan();
  assert.equal(b.text, "1\n2\n");
});

test("with a limit of open files all of them get their turn", async () => {
  const b = await bench({ harvesterLimit: 2 });
  for (let file = 0; file < 7; file++) writeFileSync(b.path(`${file}.log`), `${file}\n`);
  for (let round = 0; round < 7; round++) {
    await b.scan();
    assert.ok(b.files.state().files <= 2);
    b.context.clock.ms += 2_000;
  }
  assert.deepEqual(b.text.trim().split("\n").sort(), ["0", "1", "2", "3", "4", "5", "6"]);
});

test("tail_files reads a file that a hint names before the second search from its start", async () => {
  const b = await bench({ tailFiles: true });
  writeFileSync(b.path("old.log"), "old\n");
  await b.scan();
  writeFileSync(b.path("new.log"), "new\n");
  b.files.look(b.path("new.log"), false);
  while (b.files.busy) await turn();
  assert.equal(b.text, "new\n");
});

test("idle files make room where the system gave no descriptor to search with", async () => {
  const b = await bench();
  writeFileSync(b.path("a.log"), "a\n");
  await b.scan();
  b.context.clock.ms += 2_000;
  b.files.update({ found: [], complete: false, exhausted: true });
  assert.equal(b.files.state().files, 0);
});

test("tail_files leaves out what was there before, reads what comes, and goes on after a restart", async () => {
  const b = await bench({ tailFiles: true });
  writeFileSync(b.path("a.log"), "before\n");
  await b.scan();
  appendFileSync(b.path("a.log"), "after\n");
  writeFileSync(b.path("b.log"), "new\n");
  await b.scan();
  assert.deepEqual(b.text.split("\n").sort(), ["", "after", "new"]);
  await b.restart();
  writeFileSync(b.path("c.log"), "while away\n");
  await b.scan();
  assert.equal(b.text, "while away\n");
});

test("files older than ignore_older are left alone until they change", async () => {
  const b = await bench({ ignoreOlderMs: 3_600_000 });
  b.context.clock.ms = Date.now();
  writeFileSync(b.path("a.log"), "old\n");
  utimesSync(b.path("a.log"), 1, 1);
  await b.scan();
  assert.deepEqual([b.text, [...b.context.registry.rows()].length], ["", 0]);
  appendFileSync(b.path("a.log"), "new\n");
  await b.scan();
  assert.equal(b.text, "old\nnew\n");
});

test("a file moved within its folder while the agent was away is read on", async () => {
  const b = await bench({}, {}, "*.log");
  writeFileSync(b.path("a.log"), "1\n");
  await b.scan();
  await b.restart();
  appendFileSync(b.path("a.log"), "2\n");
  for (const [, row] of b.context.registry.rows()) row.size = -1;
  renameSync(b.path("a.log"), b.path("a.old"));
  writeFileSync(b.path("a.log"), "3\n");
  await b.scan();
  assert.deepEqual(b.text.split("\n").sort(), ["", "2", "3"]);
});

test("records, archives, links, folders and empty files are not read", async () => {
  const b = await bench();
  writeFileSync(b.path("gzip.log"), Buffer.from([0x1f, 0x8b, 8, 0, 0, 0]));
  writeFileSync(b.path("binary.log"), Buffer.from(Array.from({ length: 400 }, (_, index) => index % 20)));
  writeFileSync(b.path("empty.log"), "");
  mkdirSync(b.path("folder.log"));
  symlinkSync(b.path("target"), b.path("link.log"));
  writeFileSync(b.path("target"), "t\n");
  await b.scan();
  assert.deepEqual([b.text, b.files.state().files, [...b.context.registry.rows()].length], ["", 0, 0]);
});

test("a hole of NULs that a truncation left before text passes as it is", async () => {
  const b = await bench();
  const content = Buffer.concat([Buffer.alloc(3_000), Buffer.from("text\n")]);
  writeFileSync(b.path("a.log"), content);
  await b.scan();
  assert.deepEqual(Buffer.from(b.text, "latin1"), content);
});

test("the lines of a file deleted while the output is away are held, and all arrive when it is back", async () => {
  const b = await bench({}, { slots: 1, batchBytes: 16_384 });
  b.context.output.acking = false;
  writeFileSync(b.path("a.log"), LONG.repeat(30));
  const options = { patterns: compilePattern(b.pattern), symlinks: false, exclude: () => false };
  const signal = new AbortController().signal;
  b.files.update(await scan(options, signal));
  await b.context.output.until(() => b.context.output.sent.length === 1);
  rmSync(b.path("a.log"));
  b.context.clock.ms += 3_600_000;
  b.files.update(await scan(options, signal));
  assert.deepEqual([b.files.state().files, b.files.state().openDeletedBytes], [1, LONG.length * 30]);
  b.context.output.acking = true;
  b.context.output.sent[0]!.ack();
  while (b.files.busy) await turn();
  assert.equal(b.text, LONG.repeat(30));
});

test("a rewind in the middle of a read begins the read again, in the same generation", async () => {
  const b = await bench({}, { confirmsCommits: true });
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  appendFileSync(b.path("a.log"), "more\n");
  const options = { patterns: compilePattern(b.pattern), symlinks: false, exclude: () => false };
  b.files.update(await scan(options, new AbortController().signal));
  b.files.rewind();
  await b.context.output.until(() => b.text.endsWith(`${LONG}more\n`));
  const { sent } = b.context.output;
  assert.equal(sent.at(-1)!.source.generation, sent[0]!.source.generation);
});

test("where the system doesn't tell times of birth, content tells a reused inode", async () => {
  const b = await bench({ closeEof: true }, { tellsBirth: false });
  writeFileSync(b.path("a.log"), "first\n");
  await b.scan();
  await b.scan();
  const { ino } = statSync(b.path("a.log"));
  rmSync(b.path("a.log"));
  writeFileSync(b.path("a.log"), "second\nthird\n");
  await b.scan();
  await b.scan();
  appendFileSync(b.path("a.log"), "fourth\n");
  await b.scan();
  assert.equal(
    b.text,
    "first\nsecond\nthird\nfourth\n",
    `inode ${ino} before, ${statSync(b.path("a.log")).ino} now`,
  );
});

test("the system of this machine is asked whether it tells times of birth, and nothing is left behind", async () => {
  const b = await bench();
  assert.equal(typeof systemTellsBirth(b.logs), "boolean");
  assert.deepEqual(readdirSync(b.logs), []);
});
