import assert from "node:assert/strict";
import { test } from "node:test";
import { parseHubCommand } from "#hub/cli.ts";

test("an account is a viewer of all indices unless the command says otherwise", () => {
  const place = { config: undefined, overrides: [], json: false };
  const account = { name: "user", action: "add", subject: "ada" };
  assert.deepEqual(parseHubCommand(["user", "add", "ada"]), {
    ...account,
    role: "viewer",
    indices: ["*"],
    ...place,
  });
  const args = ["user", "add", "ada", "--role", "editor", "--index", "a-*", "--path.data", "/srv", "--json"];
  assert.deepEqual(parseHubCommand(args), {
    ...account,
    role: "editor",
    indices: ["a-*"],
    ...place,
    overrides: ["path.data=/srv"],
    json: true,
  });
});

test("a client is confidential unless the command says otherwise", () => {
  const command = parseHubCommand(["client", "add", "console", "--redirect-uri", "https://x.example/cb"]);
  assert.deepEqual(command, {
    name: "client",
    action: "add",
    subject: "console",
    kind: "confidential",
    redirectUris: ["https://x.example/cb"],
    scopes: [],
    config: undefined,
    overrides: [],
    json: false,
  });
});

for (const [args, message] of [
  [["user"], /user what\?: choose add, passwd, list, remove; see/],
  [["user", "ad"], /did you mean "add"\?/],
  [["user", "add"], /user add needs NAME/],
  [["api-key", "add", "shipper", "--expires", "5"], /--expires 5: write a time such as 1h/],
  [["user", "list", "ada"], /unexpected argument "ada"/],
  [["user", "add", "ada", "--role", "god"], /--role god: choose admin, editor, viewer, ingest/],
  [["client", "rotate"], /client rotate needs NAME or CLIENT_ID/],
  [["client", "add", "x"], /client add needs --redirect-uri URI/],
  [["client", "add", "x", "--kind", "open"], /--kind open: choose confidential/],
  [["-E", "http.port=1", "user"], /write "user" first/],
] as const) {
  test(`${args.join(" ")} is refused with what to do`, () => {
    assert.throws(() => parseHubCommand(args), { code: "usage_invalid", message });
  });
}
