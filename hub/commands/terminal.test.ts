import assert from "node:assert/strict";
import { test } from "node:test";
import { listTable, table } from "./terminal.ts";

test("columns are as wide as their longest cell, and nothing steers a terminal", () => {
  assert.equal(table(["NAME", "ID"], [["web\u001b-10", "7"]]), "NAME     ID\nweb -10  7\n");
});

test("an empty list names the command that adds an entry", () => {
  assert.equal(listTable(["NAME"], [], "none yet; add one"), "none yet; add one\n");
  assert.equal(listTable(["NAME"], [["a"]], "none yet; add one"), "NAME\na\n");
});
