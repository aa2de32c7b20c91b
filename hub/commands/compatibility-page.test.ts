import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { compatibilityPage } from "./compatibility-page.ts";

test("docs/compatibility.md is generated from the parts; `tailrace-hub --print-compatibility > docs/compatibility.md` writes it", async () => {
  const written = readFileSync(join(import.meta.dirname, "../../docs/compatibility.md"), "utf8");
  assert.equal(written, await compatibilityPage());
});
