import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { fakeStorage } from "#test/support/ui/fake-storage.ts";
import { openOwn } from "#ui/services/browser/own-texts.ts";
import { EMPTY_DASHBOARD } from "./dashboard.ts";
import { EditHistory, readDraft, removeDraft, writeDraft } from "./dashboard-drafts.ts";

let storage: ReturnType<typeof fakeStorage>;
beforeEach(() => {
  storage = fakeStorage();
  openOwn("ada", true);
});
afterEach(() => storage.remove());

test("a draft is kept for each dashboard, the oldest forgotten beyond ten", () => {
  const draft = { id: "d0", revision: 3, dashboard: { ...EMPTY_DASHBOARD, query: "x" } };
  writeDraft("ada", draft);
  assert.deepEqual(readDraft("ada", "d0"), draft);
  for (let number = 1; number <= 10; number++) writeDraft("ada", { ...draft, id: `d${number}` });
  assert.equal(readDraft("ada", "d0"), undefined);
  removeDraft("ada", "d10");
  assert.equal(readDraft("ada", "d10"), undefined);
  assert.equal(readDraft("ada", "d9")?.revision, 3);
  storage.stored.set("tailrace.own.drafts.ada", "{oops");
  assert.equal(readDraft("ada", "d9"), undefined);
});

test("a draft is shown to its own account only", () => {
  assert.equal(writeDraft("ada", { id: "d0", revision: 3, dashboard: EMPTY_DASHBOARD }), true);
  openOwn("eve", true);
  assert.equal(readDraft("eve", "d0"), undefined);
  openOwn("ada", true);
  assert.notEqual(readDraft("ada", "d0"), undefined);
});

test("a draft that isn't kept is reported: the storage is full, or the account unknown", () => {
  const draft = { id: "d0", revision: 3, dashboard: EMPTY_DASHBOARD };
  assert.equal(writeDraft(undefined, draft), false);
  storage.isFull = true;
  assert.equal(writeDraft("ada", draft), false);
});

test("steps are taken back and forth, and another change ends what was taken back", () => {
  const history = new EditHistory(1);
  history.change(2);
  history.change(3);
  history.undo();
  assert.deepEqual([history.current, history.canUndo, history.canRedo], [2, true, true]);
  history.redo();
  assert.equal(history.current, 3);
  history.undo();
  history.change(4);
  assert.deepEqual([history.current, history.canRedo], [4, false]);
  history.redo();
  history.undo();
  history.undo();
  history.undo();
  assert.equal(history.current, 1);
});
