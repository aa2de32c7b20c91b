import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { settingsReference } from "./config.ts";

test("the written settings are what the schema says; `tailrace-hub --print-settings > docs/settings.md` writes them", () => {
  const written = readFileSync(join(import.meta.dirname, "../docs/settings.md"), "utf8");
  assert.equal(written, settingsReference());
});
