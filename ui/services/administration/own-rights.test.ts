import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { ReactiveControllerHost } from "lit";
import { HUB_BACK_EVENT } from "#ui/services/hub/session-client.ts";
import { OwnRights } from "./own-rights.ts";

test("rights that a hub couldn't tell are known as soon as it is back", async (t) => {
  const page = new EventTarget();
  Object.assign(globalThis, {
    addEventListener: page.addEventListener.bind(page),
    dispatchEvent: page.dispatchEvent.bind(page),
    removeEventListener: page.removeEventListener.bind(page),
  });
  let isAway = true;
  t.mock.method(globalThis, "fetch", () =>
    isAway
      ? Promise.reject(new TypeError("fetch failed"))
      : Promise.resolve(Response.json({ kind: "user", name: "ada", role: "editor" })),
  );
  const host = { addController: () => undefined, requestUpdate: () => undefined };
  const rights = new OwnRights(host as unknown as ReactiveControllerHost);
  rights.hostConnected();
  await setImmediate();
  assert.equal(rights.may("save"), false);
  isAway = false;
  page.dispatchEvent(new Event(HUB_BACK_EVENT));
  await setImmediate();
  assert.equal(rights.may("save"), true);
  rights.hostDisconnected();
});
