import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { SETTINGS_SCHEMA } from "#agent/settings/schema.ts";
import { checkSettings } from "#proto/kit/settings/settings.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { run, text, without } from "./tools.ts";

const PARTS = ["agent", "hub"] as const;
/** systemd's exposure, 0 (none) to 10, in tenths: at most 2.5. */
const THRESHOLD = "25";
const skip = without("systemd-analyze");
/** The one setting without a default. */
const INPUT = new Map([["shipper.inputs", { value: [{ type: "log" }], place: "test" }]]);

for (const part of PARTS) {
  const name = `tailrace-${part}`;

  test(`${name}.service is right and its exposure low`, { skip }, (t) => {
    const unit = place(t, name);
    const verified = run("systemd-analyze", ["verify", "--man=no", unit]);
    assert.deepEqual([verified.status, verified.said], [0, ""]);
    const exposure = security(unit);
    assert.equal(exposure.status, 0, exposure.said);
  });

  const planted = [
    ["an unknown setting", "RestartSec=2", "RestartSecs=2"],
    ["a wrong value", "NoNewPrivileges=yes", "NoNewPrivileges=perhaps"],
    ["a program that isn't there", /ExecStart=\S+/, "ExecStart=/nowhere/tailrace"],
  ] as const;
  for (const [what, from, to] of planted) {
    test(`the check finds ${what} in ${name}.service`, { skip }, (t) => {
      const unit = place(t, name, (unit) => unit.replace(from, to));
      assert.notEqual(run("systemd-analyze", ["verify", "--man=no", unit]).said, "");
    });
  }

  test(`the check finds ${name}.service without its hardening`, { skip }, (t) => {
    const unit = place(t, name, (unit) => unit.replace(/^(Protect|Restrict|Private|SystemCall).*\n/gm, ""));
    assert.notEqual(security(unit).status, 0);
  });

  test(`${name}.service waits for the network, keeps its state and stops in order`, () => {
    const unit = settings(text(`deploy/systemd/${name}.service`));
    assert.match(unit["After"] ?? "", /network-online\.target/);
    assert.equal(unit["StateDirectory"], name);
    assert.equal(unit["KillMode"], "mixed");
    assert.equal(unit["Restart"], "always");
    assert.match(unit["ExecStart"] ?? "", new RegExp(`--path\\.data /var/lib/${name}$`));
    assert.equal(unit["MemoryDenyWriteExecute"], undefined, "the JavaScript engine compiles while it runs");
  });

  test(`${name}.service waits for a readiness message exactly where the program sends one`, () => {
    const program = text(part === "agent" ? "agent/cli.ts" : "hub/main.ts");
    const notifies = program.includes("sd-notify.ts");
    const unit = settings(text(`deploy/systemd/${name}.service`));
    assert.equal(unit["Type"], notifies ? "notify" : "exec");
    assert.equal(unit["WatchdogSec"] !== undefined, notifies);
  });
}

test("the hub may lower the priority of its threads, as the last word of its filter", () => {
  const filters = [...text("deploy/systemd/tailrace-hub.service").matchAll(/^SystemCallFilter=(.*)$/gm)];
  assert.deepEqual(
    filters.map(([, filter]) => filter),
    ["@system-service", "~@privileged @resources", "setpriority"],
  );
});

test("systemd waits longer than the agent waits for acknowledgements", () => {
  const { shutdown_timeout: wait } = checkSettings(SETTINGS_SCHEMA, INPUT);
  const waitMs = parseDuration(wait);
  const unit = settings(text("deploy/systemd/tailrace-agent.service"));
  assert.ok(Number(unit["TimeoutStopSec"]) * 1_000 > waitMs + 5_000);
  assert.match(text("deploy/examples/agent.yml"), /shutdown_timeout: 5s/);
});

test("systemd waits longer than the stop of each part of the hub may take", () => {
  const deadlineMs = /STOP_DEADLINE_MS = ([\d_]+)/.exec(text("hub/node/hub.ts"))?.[1]?.replaceAll("_", "");
  const unit = settings(text("deploy/systemd/tailrace-hub.service"));
  assert.ok(Number(unit["TimeoutStopSec"]) * 1_000 > 3 * Number(deadlineMs));
});

for (const part of PARTS) {
  const skipSysusers = without("systemd-sysusers");
  test(`users and folders of the ${part} can be made`, { skip: skipSysusers }, (t) => {
    const root = new Workspace(t);
    for (const [kind, folder] of [
      ["sysusers", "sysusers.d"],
      ["tmpfiles", "tmpfiles.d"],
    ] as const) {
      const file = root.path("usr/lib", folder, `tailrace-${part}.conf`);
      writeFileSync(file, text(`deploy/systemd/tailrace-${part}.${kind}`));
    }
    mkdirSync(join(root.folder, "etc"), { recursive: true });
    const users = run("systemd-sysusers", [`--root=${root.folder}`, `tailrace-${part}.conf`]);
    assert.equal(users.status, 0, users.said);
    assert.match(readFileSync(root.path("etc/passwd"), "utf8"), new RegExp(`^tailrace-${part}:`, "m"));
    if (part === "agent")
      assert.match(readFileSync(root.path("etc/group"), "utf8"), /^adm:.*:tailrace-agent$/m);
  });
}

test("vm.max_map_count is set to the value that the hub requires, and never lowered", () => {
  const [, figure] = /^vm\.max_map_count = (\d+)$/m.exec(text("deploy/systemd/tailrace-hub.sysctl")) ?? [];
  assert.ok(Number(figure) >= 1_048_576, "newer distributions have as much by themselves");
  for (const script of ["deploy/package/debian/postinst", "deploy/systemd/install.sh"])
    assert.match(text(script), /\[ "\$mapped" -(lt|ge) 262144 \].*sysctl -q -p/s);
});

/** Puts a unit into a folder of its own, its program replaced by one that is there. */
function place(t: TestContext, name: string, change = (unit: string): string => unit): string {
  const path = new Workspace(t).path(`${name}.service`);
  const unit = text(`deploy/systemd/${name}.service`).replace(`/usr/bin/${name}`, "/bin/true");
  writeFileSync(path, change(unit));
  return path;
}

function security(unit: string) {
  return run("systemd-analyze", [
    "security",
    "--no-pager",
    "--offline=true",
    `--threshold=${THRESHOLD}`,
    unit,
  ]);
}

/** Settings of a unit; the last one of a name counts. */
function settings(unit: string): Record<string, string | undefined> {
  return Object.fromEntries([...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, key, value]) => [key, value]));
}
