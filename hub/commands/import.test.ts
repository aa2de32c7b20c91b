import assert from "node:assert/strict";
import { test } from "node:test";
import { parseHubCommand } from "#hub/cli.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { ImportProgress, runImportCommand } from "./import.ts";
import { parseImportCommand } from "./import-arguments.ts";

test("import cluster takes indices, parts and limits", () => {
  const args = [
    "cluster",
    "http://old:9200",
    "--index",
    "a-*",
    "--index",
    "b",
    "--only",
    "indices,documents",
  ];
  const { from, patterns, parts, rate, parallel } = parseImportCommand([...args, "--rate", "100"]);
  assert.deepEqual(
    [from, patterns, parts, rate, parallel],
    ["http://old:9200", ["a-*", "b"], ["indices", "documents"], 100, 2],
  );
});

for (const [args, message] of [
  [[], /import what\?: choose cluster, kibana, config/],
  [["cluster"], /import cluster needs a URL/],
  [["cluster", "old:9200"], /write the URL of the cluster, such as http:\/\/old\.example:9200/],
  [
    ["cluster", "http://old:9200", "--only", "document"],
    /--only document: choose .*did you mean "?documents/,
  ],
  [["cluster", "http://old:9200", "--rate", "0"], /--rate 0: write a whole number from 1/],
  [["cluster", "http://old:9200", "--parallel", "17"], /from 1 to 16/],
] as const) {
  test(`import ${args.join(" ")} is refused with what to do`, () => {
    assert.throws(() => parseHubCommand(["import", ...args]), { code: "usage_invalid", message });
  });
}

for (const [isTTY, expected] of [
  [true, "\r[###############...............] 50 of 100 documents, 50 a second\u001b[K\n"],
  [false, ""],
] as const) {
  test(`progress is ${isTTY ? "a bar on a terminal" : "a line from time to time elsewhere"}`, async () => {
    const clock = new StillClock();
    let written = "";
    const progress = new ImportProgress({ isTTY, write: (text: string) => (written += text) }, clock);
    progress.update(1, 100);
    await clock.advance(1000);
    progress.update(50, 100);
    progress.end();
    assert.equal(written, expected);
    if (isTTY) return;
    await clock.advance(10_000);
    progress.update(90, 100);
    assert.equal(written, "90 of 100 documents, 8 a second\n");
  });
}

test("a file that can't be read is named with the reason", async () => {
  const surroundings = {
    env: {},
    progress: { isTTY: false, write: () => true },
    signal: new AbortController().signal,
  };
  await assert.rejects(
    runImportCommand(parseImportCommand(["config", "/nowhere/promtail.yml"]), surroundings),
    {
      message: "/nowhere/promtail.yml can't be read: there is no such file",
    },
  );
});
