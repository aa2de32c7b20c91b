import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { OutputWorld } from "#test/contract/output-runner.ts";

/** An output file with these options, whose files lie in a folder of its own. */
function files(t: TestContext, options: string) {
  const parent = mkdtempSync(join(tmpdir(), "tailrace-file-"));
  const folder = join(parent, "out");
  mkdirSync(folder);
  let world: OutputWorld | undefined;
  t.after(async () => {
    await world?.writer.stop();
    rmSync(parent, { recursive: true });
  });
  world = new OutputWorld(`file { codec => line { format => "%{m}" } ${options} }`, folder);
  return { world, folder, read: (path: string) => readFileSync(join(folder, path), "utf8") };
}

test("a file that is overwritten holds the last event alone", async (t) => {
  const { world, read } = files(t, 'path => "a.txt" write_behavior => overwrite');
  await world.write([{ m: "the first, which is long" }, { m: "second" }]);
  assert.equal(read("a.txt"), "second\n");
  await world.write([{ m: "third" }]);
  assert.equal(read("a.txt"), "third\n");
});

test("events of a file that isn't there go to the failure file where it may not be created", async (t) => {
  const { world, folder, read } = files(t, 'path => "logs/%{name}.txt" create_if_deleted => false');
  await world.write([{ m: "lost", name: "a" }]);
  assert.deepEqual(readdirSync(join(folder, "logs")), ["_filepath_failures"]);
  assert.equal(read("logs/_filepath_failures"), "lost\n");
  writeFileSync(join(folder, "logs/a.txt"), "");
  await world.write([{ m: "there", name: "a" }]);
  assert.equal(read("logs/a.txt"), "there\n");
});

test("an event's path stays below the folder that the path begins with", async (t) => {
  const { world, folder, read } = files(t, 'path => "logs/%{a}/%{b}" filename_failure => "bad"');
  await world.write([
    { m: "inside", a: "x", b: "/deep/../nested.txt" },
    { m: "encoded", a: "x", b: "%2E%2E%2ftest" },
    { m: "outside", a: "..", b: "../up.txt" },
    { m: "folder", a: "x", b: ".." },
    { m: "nul", a: "x", b: "a\0b" },
  ]);
  assert.equal(read("logs/x/nested.txt"), "inside\n");
  assert.equal(read("logs/x/%2E%2E%2ftest"), "encoded\n");
  assert.equal(read("logs/bad"), "outside\nfolder\nnul\n");
  assert.deepEqual(readdirSync(folder), ["logs"]);
  assert.ok(!existsSync(join(folder, "..", "up.txt")));
});

for (const [path, root] of [
  ["./%{name}.txt", ""],
  ["a/../%{name}.txt", ""],
  ["./logs//%{name}.txt", "logs"],
  ["logs/../../%{name}.txt", ".."],
] as const)
  test(`a path's folder may be written with dots: ${path}`, async (t) => {
    const { world, read } = files(t, `path => "${path}"`);
    const names = ["a", "sub/../b", "../c", "/d/../../c", "../../c"];
    await world.write(names.map((name) => ({ m: name, name })));
    assert.equal(read(join(root, "a.txt")), "a\n");
    assert.equal(read(join(root, "b.txt")), "sub/../b\n");
    assert.equal(read(join(root, "_filepath_failures")), "../c\n/d/../../c\n../../c\n");
  });

for (const [path, expected] of [
  ["/logs-%{+YYYY}.txt", "logs-2024.txt"],
  ["/logs-%{{yyyy}}.txt", "logs-2024.txt"],
  ["/%{+YYYY}/%{name}.txt", "2024/a.txt"],
] as const)
  test(`the first part of an absolute path may be a date: ${path}`, async (t) => {
    const { world, read } = files(t, `path => "${path}"`);
    const time = { "@timestamp": "2024-02-03T04:05:06Z" };
    await world.write([
      { m: "a", name: "a", ...time },
      { m: "b", name: "../up", ...time },
    ]);
    const isOfEvents = path.includes("%{name}");
    assert.equal(read(expected), isOfEvents ? "a\n" : "a\nb\n");
    if (isOfEvents) assert.equal(read("_filepath_failures"), "b\n");
  });

for (const path of ["/%{name}.txt", "/logs-%{+YYYY}-%{name}.txt", "/%{[a][b]}/%{+YYYY}.txt"])
  test(`the first part of an absolute path can't be an event's choice: ${path}`, (t) => {
    assert.throws(() => files(t, `path => "${path}"`), /can't be an event's choice/);
  });

test("new files and folders have the permissions that are written", async (t) => {
  const { world, folder } = files(t, 'path => "is/nested/output.txt" dir_mode => 0751 file_mode => 0610');
  await world.write([{ m: "a" }]);
  const modes = ["is", "is/nested", "is/nested/output.txt"].map(
    (path) => statSync(join(folder, path)).mode & 0o777,
  );
  assert.deepEqual(modes, [0o751, 0o751, 0o610]);
});
