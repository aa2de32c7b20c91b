import assert from "node:assert/strict";
import { test } from "node:test";
import { hubSchema } from "#hub/node/settings/hub-settings.ts";
import { AppError } from "#proto/kit/errors.ts";
import { checkSettings } from "#proto/kit/settings/settings.ts";
import {
  bootstrapFindings,
  type CheckFinding,
  checkedSettings,
  type MachineLimits,
  requireBootstrap,
} from "./bootstrap-checks.ts";
import { type FactSources, readMachineLimits } from "./machine-limits.ts";

const WELL: MachineLimits = {
  maxMapCount: 262_144,
  openFilesLimit: 65_536,
  memoryLimitBytes: undefined,
  dataFilesystem: "disk",
};
const LOOPBACK = {};
const OPEN = { "network.host": "0.0.0.0" };

function findings(settings: Record<string, unknown>, facts: Partial<MachineLimits> = {}): CheckFinding[] {
  return bootstrapFindings(checked(settings), { ...WELL, ...facts });
}

/** A hub reachable by others with sign-in and TLS, as far as `settings` doesn't say otherwise. */
function checked(settings: Record<string, unknown>) {
  const { encrypted = true, ...given } = settings;
  const entries = Object.entries({ "auth.mode": "required", ...given });
  const all = checkSettings(
    hubSchema,
    new Map(entries.map(([key, value]) => [key, { value, place: "test" }])),
  );
  const result = checkedSettings(all);
  return {
    ...result,
    listeners: result.listeners.map((each) => ({ ...each, encrypted: encrypted === true })),
  };
}

test("a machine as it should be gives no finding", () => {
  assert.deepEqual(findings(OPEN), []);
  assert.deepEqual(findings(LOOPBACK), []);
});

const FAULTS: readonly (readonly [
  what: string,
  facts: Partial<MachineLimits>,
  check: CheckFinding["check"],
  message: RegExp,
])[] = [
  [
    "a low vm.max_map_count",
    { maxMapCount: 65_530 },
    "max_map_count",
    /vm\.max_map_count is 65530, at least 262144 is needed; run "sysctl -w vm\.max_map_count=262144"/,
  ],
  ["few open files", { openFilesLimit: 1_024 }, "open_files", /at most 1024 files .* at least 8192/],
  ["data in memory", { dataFilesystem: "memory" }, "data_in_memory", /path\.data .* is in memory \(tmpfs\)/],
];

for (const [what, facts, check, message] of FAULTS) {
  test(`${what} refuses a hub that others reach and warns one on loopback`, () => {
    const [refusal, ...further] = findings(OPEN, facts);
    assert.deepEqual([refusal?.check, refusal?.refused, further], [check, true, []]);
    assert.match(refusal!.message, message);
    assert.deepEqual(
      findings(LOOPBACK, facts).map((each) => [each.check, each.refused]),
      [[check, false]],
    );
  });
}

test("node.store.allow_mmap: false takes the check of vm.max_map_count away", () => {
  assert.deepEqual(findings({ ...OPEN, "node.store.allow_mmap": false }, { maxMapCount: 65_530 }), []);
});

test("too little memory is a one-line warning, and never refused", () => {
  const [finding] = findings(OPEN, { memoryLimitBytes: 128 * 1_024 ** 2 });
  assert.equal(finding?.refused, false);
  assert.match(finding.message, /^this container .* 128 MiB .* at least 512 MiB.*raise the memory value$/);
  assert.deepEqual(findings(OPEN, { memoryLimitBytes: 512 * 1_024 ** 2 }), []);
});

test("data in a container's own layer is warned of", () => {
  assert.deepEqual(
    findings(OPEN, { dataFilesystem: "container layer" }).map(({ check, refused }) => [check, refused]),
    [["data_in_container", false]],
  );
});

test("each listener beyond loopback must have sign-in and encryption", () => {
  const off = findings({ "http.host": "192.0.2.1", "auth.mode": "off" });
  assert.equal(off.length, 1);
  assert.match(off[0]!.message, /^http\.host is 192\.0\.2\.1.*auth\.mode is off/);
  const clear = findings({ "nats.host": "192.0.2.1", encrypted: false });
  assert.match(clear[0]!.message, /^nats\.host is 192\.0\.2\.1.*tls\.certificate.*tls\.terminated_upstream/);
  const plain = findings({ "http.host": "192.0.2.1", encrypted: false });
  assert.match(plain[0]!.message, /^http\.host is 192\.0\.2\.1.*tls\.certificate.*tls\.terminated_upstream/);
  assert.deepEqual(
    findings({ "nats.host": "192.0.2.1", "nats.servers": ["nats://other:4222"], encrypted: false }),
    [],
    "a NATS elsewhere isn't a listener of ours",
  );
  assert.deepEqual(findings({ "auth.mode": "off", encrypted: false }), [], "loopback needs neither");
});

test("all refusals stand in one error, warnings are returned", () => {
  const facts = { ...WELL, maxMapCount: 65_530, openFilesLimit: 256, memoryLimitBytes: 1 };
  assert.throws(
    () => requireBootstrap(checked(OPEN), facts),
    (error: AppError) =>
      error instanceof AppError &&
      error.code === "settings_invalid" &&
      /\[1\] vm\.max_map_count.*\n\[2\] at most 256/.test(error.message),
  );
  assert.deepEqual(
    requireBootstrap(checked(LOOPBACK), facts).map(({ check }) => check),
    ["max_map_count", "open_files", "memory_limit"],
  );
});

const SOURCES: FactSources = {
  read: (path) =>
    ({
      "/proc/sys/vm/max_map_count": "65530\n",
      "/proc/self/limits":
        "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 524288               files\n",
    })[path],
  filesystemType: (path) => (path === "/" ? 0xef53 : path === "/run" ? 0x0102_1994 : undefined),
  constrainedMemoryBytes: () => 128,
  totalMemoryBytes: () => 1_024,
};

test("facts are read from the kernel's files and the folder nearest to the data", () => {
  assert.deepEqual(readMachineLimits("/run/hub/data", SOURCES), {
    maxMapCount: 65_530,
    openFilesLimit: 1_024,
    memoryLimitBytes: 128,
    dataFilesystem: "memory",
  });
  assert.equal(readMachineLimits("/srv/hub", SOURCES).dataFilesystem, "disk");
  const overlay = { ...SOURCES, filesystemType: () => 0x794c_7630 };
  assert.equal(readMachineLimits("/srv", overlay).dataFilesystem, "container layer");
});

test("a value that the system doesn't provide is unknown, and no limit is none", () => {
  const silent: FactSources = {
    read: () => undefined,
    filesystemType: () => undefined,
    constrainedMemoryBytes: () => 2 ** 63,
    totalMemoryBytes: () => 1_024,
  };
  const facts = readMachineLimits("/srv", silent);
  assert.deepEqual(facts, {
    maxMapCount: undefined,
    openFilesLimit: undefined,
    memoryLimitBytes: undefined,
    dataFilesystem: "unknown",
  });
  assert.deepEqual(bootstrapFindings(checked(OPEN), facts), []);
  const unlimited = {
    ...silent,
    read: () => "Max open files            unlimited            unlimited  files",
  };
  assert.equal(readMachineLimits("/srv", unlimited).openFilesLimit, Number.POSITIVE_INFINITY);
});

test("this machine's facts can be read", () => {
  const facts = readMachineLimits(import.meta.dirname);
  assert.notEqual(facts.dataFilesystem, "unknown");
  if (process.platform === "linux") assert.ok(facts.openFilesLimit! > 0 && facts.maxMapCount! > 0);
});
