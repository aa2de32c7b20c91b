import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { searchCompatibility } from "./search-compatibility.ts";

test("each hint of the options of searches is listed", () => {
  const listed = searchCompatibility().filter(({ treatment }) => treatment === "hint");
  assert.ok(listed.some(({ where, name }) => where === "aggregation `terms`" && name === "execution_hint"));
  const marked = globSync("**/*.ts", { cwd: import.meta.dirname })
    .filter((path) => !path.endsWith(".test.ts"))
    .flatMap((path) => [
      ...readFileSync(`${import.meta.dirname}/${path}`, "utf8").matchAll(/^ {2}(\w+): hint\(/gm),
    ])
    .map(([, name]) => name);
  assert.ok(marked.length > 15);
  const names = new Set(listed.map(({ name }) => name));
  assert.deepEqual(
    marked.filter((name) => !names.has(name!)),
    [],
  );
});
