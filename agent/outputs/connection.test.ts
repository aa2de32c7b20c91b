import assert from "node:assert/strict";
import { test } from "node:test";
import { errors } from "@nats-io/transport-node";
import { explainRefusal } from "./connection.ts";

const servers = ["nats://hub:4222"];

for (const [what, credential, said] of [
  ["no credential", {}, /requires a credential .* and none is set: run tailrace-agent enroll/],
  ["a token", { token: "t" }, /refuses the agent's credential .*until then nothing is lost/],
  ["a key", { nkeySeedFile: "/etc/tailrace/agent.nkey" }, /refuses the agent's credential/],
] as const) {
  test(`a connection refused with ${what} is reported with the remedy`, () => {
    const refusal = new errors.AuthorizationError("Authorization Violation");
    assert.match(explainRefusal(refusal, { servers, ...credential }), said);
  });
}

test("any other failure of a connection is reported unchanged", () => {
  assert.equal(explainRefusal(new Error("connection refused"), { servers }), "connection refused");
});
