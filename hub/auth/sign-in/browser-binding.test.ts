import assert from "node:assert/strict";
import { test } from "node:test";
import { BrowserBinding } from "./browser-binding.ts";

test("a state whose sign-in has ended gets no secret, others do", () => {
  const begun = BrowserBinding.from(undefined);
  const ended = BrowserBinding.from(begun.after("first").value);
  assert.equal(ended.secretFor("first"), undefined);
  assert.equal(ended.secretFor("second"), begun.secret);
  assert.equal(begun.secretFor("first"), begun.secret);
  assert.match(ended.value, /^[A-Za-z0-9_-]{43}\.[A-Za-z0-9_-]{8}$/);
});

test("a browser in which many sign-ins have ended gets a new secret, which opens none of the states before", () => {
  const begun = BrowserBinding.from(undefined);
  let binding = begun;
  for (let number = 1; number <= 32; number++)
    binding = BrowserBinding.from(binding.after(`${number}`).value);
  assert.equal(binding.secret, begun.secret);
  assert.equal(binding.value.length, 331);
  assert.equal(binding.secretFor("1"), undefined);
  const renewed = binding.after("33");
  assert.notEqual(renewed.secret, begun.secret);
  assert.equal(renewed.value, renewed.secret);
});

test("a malformed value gives a new binding, and malformed marks are left out", () => {
  for (const value of ["", "planted", "x".repeat(44), `${"x".repeat(43)}; Domain=example`])
    assert.match(BrowserBinding.from(value).value, /^[A-Za-z0-9_-]{43}$/);
  const secret = "x".repeat(43);
  assert.equal(BrowserBinding.from(`${secret}.12345678.short.{}345678`).value, `${secret}.12345678`);
});
