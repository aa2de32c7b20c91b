import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseSegmentCommand } from "./arguments.ts";
import { runSegmentCommand } from "./segment.ts";

const SAMPLE = join(import.meta.dirname, "../../test/compat/engine-2");

test("the parts of a segment make up the whole file", () => {
  const path = join(SAMPLE, "s1.seg");
  const { docs, bytes, byPart } = JSON.parse(
    runSegmentCommand(parseSegmentCommand([path, "--json"]), {}),
  ) as { docs: number; bytes: number; byPart: { name: string; bytes: number }[] };
  assert.equal(docs, 302);
  assert.equal(bytes, statSync(path).size);
  assert.equal(
    byPart.reduce((total, part) => total + part.bytes, 0),
    bytes,
  );
  const names = ["source", "ids", "idIndex", "dictionary", "postings", "positions", "columns", "norms"];
  for (const name of names)
    assert.ok(
      byPart.some((part) => part.name === name && part.bytes > 0),
      name,
    );
});

test("the segments of a folder are added up in two tables", () => {
  const text = runSegmentCommand(parseSegmentCommand([SAMPLE]), {});
  assert.match(text, /^3 segments/);
  assert.match(text, /^liveDocs +48 /m);
  assert.match(text, /^message positions /m);
});

test("a second path is refused", () => {
  assert.throws(() => parseSegmentCommand(["a", "b"]), {
    code: "usage_invalid",
    message: /unexpected argument "b"/,
  });
});

test("without a path the data folder is read", () => {
  const command = parseSegmentCommand(["--path.data", SAMPLE]);
  assert.match(runSegmentCommand(command, {}), /^3 segments/);
});

test("a path without segments is an error that names it", () => {
  assert.throws(() => runSegmentCommand(parseSegmentCommand(["/nowhere"]), {}), {
    code: "file_unreadable",
    message: /\/nowhere/,
  });
});

test("a path that can't be read is named with the reason", () => {
  assert.throws(() => runSegmentCommand(parseSegmentCommand(["/nowhere/x.seg"]), {}), {
    message: "/nowhere/x.seg can't be read: there is no such file",
  });
});
