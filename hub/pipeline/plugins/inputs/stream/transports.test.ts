import assert from "node:assert/strict";
import { test } from "node:test";
import { chosenTransports, Transports } from "./transports.ts";

for (const [what, given, tls, chosen, faults] of [
  ["without the option", undefined, undefined, ["tcp", "udp"], 0],
  ["without the option, with TLS", undefined, {}, ["tcp"], 0],
  ["named twice", ["udp", "udp"], undefined, ["udp"], 0],
  ["UDP with TLS", ["udp", "tcp"], {}, ["udp", "tcp"], 1],
] as const) {
  test(`transports ${what}: ${chosen.join(", ")}${faults > 0 ? ", and an error" : ""}`, () => {
    const reported: string[] = [];
    assert.deepEqual(
      chosenTransports(given, tls, (severity) => reported.push(severity)),
      chosen,
    );
    assert.deepEqual(
      reported,
      Array.from({ length: faults }, () => "error"),
    );
  });
}

test("only the chosen parts listen", async () => {
  const calls: string[] = [];
  const part = (name: string) => ({
    start: async () => void calls.push(`start ${name}`),
    stop: async () => void calls.push(`stop ${name}`),
  });
  const transports = new Transports({ tcp: part("tcp"), udp: part("udp") }, ["udp"]);
  await transports.start();
  await transports.stop();
  assert.deepEqual(calls, ["start udp", "stop udp"]);
});
