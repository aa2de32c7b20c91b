import assert from "node:assert/strict";
import { test } from "node:test";
import { scopeTitle } from "./scope-titles.ts";

test("a scope of the hub has its title, any other is shown as it is", () => {
  const origin = "https://logs.example.com";
  assert.equal(scopeTitle(`${origin}/auth/logs.read`, origin), "Search your logs");
  assert.equal(scopeTitle(`${origin}/auth/new`, origin, "New"), "New");
  const elsewhere = "https://logs.example.com.evil.example/auth/logs.read";
  assert.equal(scopeTitle(elsewhere, origin), elsewhere);
});
