import assert from "node:assert/strict";
import { test } from "node:test";
import { parseHubCommand } from "./cli.ts";

test("without arguments the hub runs", () => {
  assert.deepEqual(parseHubCommand([]), { name: "run", config: undefined, overrides: [], readyJson: false });
});

test("overrides and the data folder are kept in their order", () => {
  const command = parseHubCommand(["run", "-c", "hub.yml", "-E", "http.port=1", "--path.data", "/srv"]);
  assert.deepEqual(command, {
    name: "run",
    config: "hub.yml",
    overrides: ["http.port=1", "path.data=/srv"],
    readyJson: false,
  });
});

for (const [args, message] of [
  [["rnu"], /unknown command "rnu"; did you mean "run"\?/],
  [["run", "now"], /unexpected argument "now"/],
  [["--prot", "1"], /--prot/],
] as const) {
  test(`${args.join(" ")} is refused with what to do`, () => {
    assert.throws(() => parseHubCommand(args), { code: "usage_invalid", message });
  });
}
