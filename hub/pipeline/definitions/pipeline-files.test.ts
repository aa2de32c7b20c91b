import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { readPipelineFiles } from "./pipeline-files.ts";

function folderWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-pipelines-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

test("the files of a glob or a folder are one pipeline, in the order of their names", (t) => {
  const folder = folderWith(t, { "p/20.conf": "b", "p/10.conf": "a", "p/10.conf~": "copy", "p/x.txt": "x" });
  const read = (...paths: string[]) =>
    readPipelineFiles({ paths: paths.map((path) => join(folder, path)), pipelinesFile: "" });
  assert.deepEqual(
    read("p/*.conf").map(({ id, files }) => [id, files.map(({ text }) => text)]),
    [["main", ["a", "b"]]],
  );
  assert.deepEqual(
    read("p").flatMap(({ files }) => files.map(({ text }) => text)),
    ["a", "b", "x"],
  );
  assert.deepEqual(read("nothing/*.conf"), []);
});

test("pipelines.yml lists further pipelines, dotted or nested, by file or by text", (t) => {
  const yaml = [
    "- pipeline.id: one",
    '  path.config: "one/*.conf"',
    "  pipeline.workers: 3",
    "- pipeline: { id: two, batch: { size: 10 } }",
    '  config.string: "filter { }"',
    "  queue.type: persisted",
    "  pipeline.ecs_compatibility: v8",
    "  config.support_escapes: true",
  ].join("\n");
  const folder = folderWith(t, { "pipelines.yml": yaml, "one/a.conf": "a" });
  const found = readPipelineFiles({ paths: [], pipelinesFile: join(folder, "pipelines.yml") });
  assert.deepEqual(found, [
    { id: "one", files: [{ path: join(folder, "one/a.conf"), text: "a" }], workers: 3 },
    {
      id: "two",
      files: [{ path: join(folder, "two.conf"), text: "filter { }", hasEscapes: true }],
      ecsCompatibility: "v8",
    },
  ]);
});

const FAULTS: [name: string, yaml: string, message: RegExp][] = [
  [
    "escapes that are neither on nor off",
    "- pipeline.id: a\n  config.support_escapes: maybe\n  config.string: x",
    /support_escapes is true or false/,
  ],
  ["no list", "a: 1", /write a list of pipelines/],
  ["a mistyped key", "- pipeline.id: a\n  path.confg: x", /unknown setting "path.confg".*path\.config/],
  ["an id that can't be", "- pipeline.id: 'a b'\n  config.string: ''", /pipeline\.id is 1 to 64 letters/],
  ["neither files nor text", "- pipeline.id: a", /it needs path\.config or config\.string/],
  [
    "no file where it says",
    "- pipeline.id: a\n  path.config: 'no/*.conf'",
    /no file is at no\/\*\.conf|no file is at/,
  ],
  [
    "an id twice",
    "- {pipeline.id: a, config.string: x}\n- {pipeline.id: a, config.string: y}",
    /two pipelines/,
  ],
  [
    "an unknown naming of fields",
    "- {pipeline.id: a, config.string: x, pipeline.ecs_compatibility: v9}",
    /disabled, v1, v8/,
  ],
  ["no number of workers", "- {pipeline.id: a, config.string: x, pipeline.workers: 0}", /from 1 to 64/],
];

for (const [name, yaml, message] of FAULTS) {
  test(`pipelines.yml with ${name} is refused with the reason`, (t) => {
    const folder = folderWith(t, { "pipelines.yml": yaml });
    assert.throws(
      () => readPipelineFiles({ paths: [], pipelinesFile: join(folder, "pipelines.yml") }),
      (error: Error) => message.test(error.message),
    );
  });
}
