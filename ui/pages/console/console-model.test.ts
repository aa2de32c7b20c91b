import assert from "node:assert/strict";
import { test } from "node:test";
import { fakeStorage } from "#test/support/ui/fake-storage.ts";
import { openOwn, writeOwn } from "#ui/services/browser/own-texts.ts";
import { ConsoleClient } from "#ui/services/console/console-client.ts";
import { ConsoleModel, FIRST_TEXT } from "./console-model.ts";

test("what is typed before the account is known is not kept, and appended to the account's text once it is", async (t) => {
  const storage = fakeStorage();
  t.after(() => storage.remove());
  openOwn("ada", true);
  writeOwn("ada", "console.text", "GET /kept\n");
  Object.assign(globalThis, { dispatchEvent: () => true });
  t.after(() => Reflect.deleteProperty(globalThis, "dispatchEvent"));
  let isAway = true;
  t.mock.method(globalThis, "fetch", () =>
    isAway
      ? Promise.reject(new TypeError("fetch failed"))
      : Promise.resolve(Response.json({ kind: "user", name: "ada", role: "editor" })),
  );
  const model = new ConsoleModel(
    new ConsoleClient(),
    () => undefined,
    () => undefined,
  );
  assert.equal(await model.loadOwn(() => ""), FIRST_TEXT);
  model.writeText("GET /typed");
  assert.deepEqual([model.isOfNobody, model.isKept], [true, false]);
  isAway = false;
  assert.equal(await model.loadOwn(() => "GET /typed"), "GET /kept\n\nGET /typed");
  assert.deepEqual([model.isOfNobody, model.isKept], [false, true]);
  assert.equal(storage.stored.get("tailrace.own.console.text.ada"), "GET /kept\n\nGET /typed");
  assert.equal(await model.loadOwn(() => FIRST_TEXT), "GET /kept\n\nGET /typed");
});
