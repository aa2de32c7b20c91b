import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { fakeStorage } from "#test/support/ui/fake-storage.ts";
import { forgetOwn, isOpen, openOwn, readOwn, writeOwn } from "./own-texts.ts";

let storage: ReturnType<typeof fakeStorage>;
beforeEach(() => {
  storage = fakeStorage();
});
afterEach(() => storage.remove());

test("a text is read by its own account only, and of no account nothing is kept", () => {
  openOwn("ada", true);
  assert.equal(writeOwn("ada", "console.text", "GET /"), true);
  openOwn("eve", true);
  assert.equal(readOwn("eve", "console.text"), undefined);
  assert.equal(writeOwn("eve", "console.text", "GET /a"), true);
  assert.equal(readOwn("eve", "console.text"), "GET /a");
  writeOwn("eve", "console.text", undefined);
  assert.equal(readOwn("eve", "console.text"), undefined);
  openOwn("ada", true);
  assert.equal(readOwn("ada", "console.text"), "GET /");
  assert.equal(writeOwn(undefined, "console.text", "GET /"), false);
  assert.equal(readOwn(undefined, "console.text"), undefined);
  storage.isFull = true;
  assert.equal(writeOwn("ada", "console.text", "GET /"), false);
});

test("the texts of every account are forgotten at once, also those of earlier versions, and preferences stay", () => {
  for (const account of ["ada", "eve"]) {
    openOwn(account, true);
    writeOwn(account, "drafts", "[]");
  }
  for (const name of ["drafts", "pipeline-drafts", "console.text", "console.history", "theme"])
    storage.stored.set(`tailrace.${name}`, "x");
  storage.stored.set("another program's own.drafts", "x");
  forgetOwn();
  assert.deepEqual([...storage.stored.keys()], ["tailrace.theme", "another program's own.drafts"]);
});

test("a tab of an account that was signed out on another tab stores nothing, nor for the next account", () => {
  openOwn("ada", true);
  forgetOwn();
  assert.equal(writeOwn("ada", "console.text", "GET /"), false);
  openOwn("eve", true);
  assert.equal(isOpen("ada"), false);
  assert.equal(writeOwn("ada", "console.text", "GET /"), false);
  assert.equal(readOwn("ada", "console.text"), undefined);
  assert.deepEqual([...storage.stored.keys()], ["tailrace.own.account"]);
});

const EARLIER = {
  drafts: "[1]",
  "console.text": "GET /",
  "console.history": "[2]",
  "pipeline-drafts": '[{"account":"ada","name":"web"},{"account":"eve","name":"db"}]',
};
const PIPELINES = {
  "own.pipeline-drafts.ada": '[{"account":"ada","name":"web"}]',
  "own.pipeline-drafts.eve": '[{"account":"eve","name":"db"}]',
};

for (const [title, account, canSignOut, expected] of [
  ["drafts of pipelines are moved to whom they name, the rest is forgotten", "ada", true, PIPELINES],
  [
    "without a sign-in all is moved",
    "anonymous",
    false,
    {
      "own.drafts.anonymous": "[1]",
      "own.console.text.anonymous": "GET /",
      "own.console.history.anonymous": "[2]",
      ...PIPELINES,
    },
  ],
] as const)
  test(`texts of earlier versions: ${title}`, () => {
    for (const [name, text] of Object.entries(EARLIER)) storage.stored.set(`tailrace.${name}`, text);
    openOwn(account, canSignOut);
    const found = Object.fromEntries([...storage.stored].map(([key, text]) => [key.slice(9), text]));
    assert.deepEqual(found, { "own.account": account, ...expected });
  });

test("texts of an earlier version that no page can read are removed, and newer ones stay", () => {
  openOwn("anonymous", false);
  writeOwn("anonymous", "console.text", "newer");
  storage.stored.set("tailrace.console.text", "older");
  storage.stored.set("tailrace.pipeline-drafts", "[null]");
  openOwn("anonymous", false);
  assert.deepEqual(
    [...storage.stored.keys()],
    ["tailrace.own.account", "tailrace.own.console.text.anonymous"],
  );
  assert.equal(readOwn("anonymous", "console.text"), "newer");
});
