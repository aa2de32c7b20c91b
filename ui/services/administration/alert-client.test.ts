import assert from "node:assert/strict";
import { test } from "node:test";
import { type Alert, readAlert } from "./alert-client.ts";

test("an alert of an earlier hub runs and has no notice", () => {
  const state = {
    condition: "ok",
    since: "",
    evaluated: "",
    count: 0,
    fault: "",
    deliveries: [],
    events: [],
  };
  const sent = { id: "a", revision: 1, rule: { title: "Errors" }, state } as unknown as Alert;
  assert.deepEqual(readAlert(sent), { ...sent, notice: "", state: { ...state, stopped: false } });
  const newer = { ...sent, notice: "save it", state: { ...sent.state, stopped: true } };
  assert.deepEqual(readAlert(newer), newer);
});
