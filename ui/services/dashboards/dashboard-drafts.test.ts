import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { EMPTY_DASHBOARD } from "./dashboard.ts";
import { EditHistory, readDraft, removeDraft, writeDraft } from "./dashboard-drafts.ts";

const stored = new Map<string, string>();

beforeEach(() => {
  Object.defineProperty(globalThis, "localStorage", {
    configurable: true,
    value: {
      getItem: (name: string) => stored.get(name) ?? null,
      setItem: (name: string, value: string) => stored.set(name, value),
      removeItem: (name: string) => stored.delete(name),
    },
  });
});

afterEach(() => {
  stored.clear();
  Reflect.deleteProperty(globalThis, "localStorage");
});

test("a draft is kept for each dashboard, the oldest forgotten beyond ten", () => {
  const draft = { id: "d0", revision: 3, dashboard: { ...EMPTY_DASHBOARD, query: "x" } };
  writeDraft(draft);
  assert.deepEqual(readDraft("d0"), draft);
  for (let number = 1; number <= 10; number++) writeDraft({ ...draft, id: `d${number}` });
  assert.equal(readDraft("d0"), undefined);
  removeDraft("d10");
  assert.equal(readDraft("d10"), undefined);
  assert.equal(readDraft("d9")?.revision, 3);
  stored.set("tailrace.drafts", "{oops");
  assert.equal(readDraft("d9"), undefined);
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
