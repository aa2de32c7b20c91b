import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Workspace } from "#test/harness/workspace.ts";
import { loadHubSettings, settingsReference } from "./hub-settings.ts";

test("docs/settings.md is generated from the schema; `tailrace-hub --print-settings > docs/settings.md` writes them", () => {
  const written = readFileSync(join(import.meta.dirname, "../../../docs/settings.md"), "utf8");
  assert.equal(written, settingsReference());
});

test("an installation's settings and data are the defaults of the command line and the file", (t) => {
  const file = new Workspace(t).path("hub.yml");
  writeFileSync(file, "http.port: 1\n");
  const env = { TAILRACE_HUB_CONFIG: file, TAILRACE_HUB_DATA: "/var/lib/x" };
  const load = (given: { file?: string; overrides?: string[] }, variables: NodeJS.ProcessEnv = env) => {
    const settings = loadHubSettings({ file: given.file, overrides: given.overrides ?? [] }, variables);
    return [settings["http.port"], settings["path.data"]];
  };
  assert.deepEqual(load({}), [1, "/var/lib/x"]);
  assert.deepEqual(load({ overrides: ["path.data=/srv", "http.port=2"] }), [2, "/srv"]);
  assert.deepEqual(
    load({}, { TAILRACE_HUB_CONFIG: `${file}.none` }),
    [9_200, "./data"],
    "a file that isn't there",
  );
  assert.throws(() => load({ file: `${file}.none` }), { message: /there is no such file/ });
});

for (const [override, said] of [
  ["journal.max_bytes=5xb", /journal\.max_bytes: "5xb" isn't a size; write for example 512kb/],
  ["monitoring.interval=soon", /monitoring\.interval: "soon" isn't a duration; write for example/],
  ["config.reload.interval=-1s", /config\.reload\.interval/],
  ["auth.session.idle=x", /auth\.session\.idle: "x" isn't a duration/],
  ["compat.version=seven", /compat\.version must match/],
  ["alerts.smtp.url=mail.example", /alerts\.smtp\.url must match/],
] as const) {
  test(`-E ${override} is refused with the setting's name`, () => {
    const load = (): unknown => loadHubSettings({ file: undefined, overrides: [override] }, {});
    assert.throws(load, { code: "settings_invalid", message: said });
  });
}

test("credentials in a wrong place or form are refused without being shown", () => {
  const wrong = [
    'nats.servers=["nats://hub:geheim@log.example:4222"]',
    "nats.token=[geheim, x]",
    "auth.upstream.client_secret=[geheim]",
    "alerts.smtp.url=[smtp://a:geheim@b]",
  ];
  for (const override of wrong) {
    const load = (): unknown => loadHubSettings({ file: undefined, overrides: [override] }, {});
    assert.throws(load, (error: Error) => {
      assert.match(error.message, new RegExp(override.split("=", 1)[0]!));
      assert.doesNotMatch(error.message, /geheim/);
      return true;
    });
  }
});
