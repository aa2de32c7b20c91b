import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { convert, Type } from "#proto/kit/schema.ts";
import {
  excluderOf,
  type FileSettings,
  fileOptions,
  fileProperties,
  patternsOf,
  validateFileSettings,
} from "./file-settings.ts";

const schema = Type.Object(fileProperties);

function settings(given: object): FileSettings {
  return convert(schema, { paths: ["/l/*.log"], ...given }) as FileSettings;
}

test("defaults are those of the reference", () => {
  assert.deepEqual(fileOptions(settings({})), {
    closeInactiveMs: 300_000,
    closeRemoved: false,
    closeRenamed: false,
    closeEof: false,
    deleteAfterMs: null,
    closeTimeoutMs: 0,
    ignoreOlderMs: 0,
    cleanInactiveMs: 0,
    cleanRemoved: true,
    tailFiles: false,
    archives: false,
    harvesterLimit: 0,
    maxBytes: 1_048_576,
    quietMs: 5_000,
  });
});

for (const [given, expected] of [
  [{ close_inactive: "90s" }, { closeInactiveMs: 90_000 }],
  [{ close_removed: true }, { closeRemoved: true }],
  [{ close_renamed: true }, { closeRenamed: true }],
  [{ close_eof: true }, { closeEof: true }],
  [{ close_timeout: "2h" }, { closeTimeoutMs: 7_200_000 }],
  [{ ignore_older: "48h" }, { ignoreOlderMs: 172_800_000 }],
  [
    { ignore_older: "1h", clean_inactive: "2h" },
    { ignoreOlderMs: 3_600_000, cleanInactiveMs: 7_200_000 },
  ],
  [{ clean_removed: false }, { cleanRemoved: false }],
  [{ tail_files: true }, { tailFiles: true }],
  [{ read_archives: true }, { archives: true }],
  [{ harvester_limit: 7 }, { harvesterLimit: 7 }],
  [{ max_bytes: "64kb" }, { maxBytes: 65_536 }],
  [{ rotated_wait: 2 }, { quietMs: 2_000 }],
  [{ delete_after_read: true }, { deleteAfterMs: 60_000 }],
  [{ delete_after_read: true, delete_grace: "5m" }, { deleteAfterMs: 300_000 }],
  [{ delete_grace: "5m" }, { deleteAfterMs: null }],
] as const) {
  test(`${JSON.stringify(given)} changes how files are read, and nothing else`, () => {
    const chosen = settings(given);
    validateFileSettings(chosen);
    assert.deepEqual(fileOptions(chosen), { ...fileOptions(settings({})), ...expected });
  });
}

test("files are forgotten only after they can't be read any more", () => {
  for (const given of [
    { clean_inactive: "1h" },
    { clean_inactive: "1h", ignore_older: "1h" },
    { clean_inactive: "3605s", ignore_older: "1h", scan_frequency: "10s" },
  ])
    assert.throws(() => validateFileSettings(settings(given)), /^AppError: clean_inactive must be longer/);
  validateFileSettings(settings({ clean_inactive: "3611s", ignore_older: "1h", scan_frequency: "10s" }));
});

for (const [given, path, isExcluded] of [
  [{}, "/l/a.log", false],
  [{}, "/l/a.log.gz", true],
  [{}, "/l/a.log.zst", true],
  [{ read_archives: true }, "/l/a.log.gz", false],
  [{ read_archives: true }, "/l/a.log.xz", true],
  [{ exclude_files: ["debug"] }, "/l/debug.log", true],
  [{ exclude_files: ["debug"] }, "/l/a.log.gz", false],
  [{ exclude_files: [], read_archives: true }, "/l/a.log.zst", false],
] as const) {
  test(`${path} is ${isExcluded ? "left out" : "read"} with ${JSON.stringify(given)}`, () => {
    assert.equal(excluderOf(settings(given))(path), isExcluded);
  });
}

test("relative paths count from the working folder, and braces stand for several", () => {
  assert.equal(patternsOf(settings({ paths: ["logs/*.log"] })).length, 1);
  assert.deepEqual(
    patternsOf(settings({ paths: ["logs/*.log"] })),
    patternsOf(settings({ paths: [resolve("logs/*.log")] })),
  );
  assert.equal(patternsOf(settings({ paths: ["/l/{a,b}.log", "/m/*"] })).length, 3);
});
