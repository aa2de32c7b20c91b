import assert from "node:assert/strict";
import fs, { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { encodeIndex, type IndexMetadata, parseMapping } from "#hub/cluster/catalog/index-metadata.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { START } from "#proto/position.ts";
import { ShardFolders } from "./shard-folders.ts";

const AT = { incarnation: 3, sequence: 90_071 };
const COMMITTED = {
  position: AT,
  generations: new Map([
    ["7Qm2hV1xT3yqzC0nR4sKdw/0", 17],
    ["7Qm2hV1xT3yqzC0nR4sKdw/1", 4],
  ]),
};
const NOTHING = { position: START, generations: new Map<string, number>() };

function withFolders(use: (folders: ShardFolders, file: string, errors: unknown[]) => void): void {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-folders-"));
  const errors: unknown[] = [];
  const log = Object.assign(silentLogger(), { error: (_: unknown, text: unknown) => void errors.push(text) });
  try {
    use(new ShardFolders(folder, log), join(folder, "position.json"), errors);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const sample = (version: number): string =>
  fileURLToPath(import.meta.resolve(`#test/compat/position-${version}/position.json`));

suite("the committed position", () => {
  test("is read as it was written; a folder without it begins at the start of the log", () => {
    withFolders((folders, _file, errors) => {
      assert.deepEqual(folders.readCommitted(), NOTHING);
      folders.writeCommitted(COMMITTED);
      assert.deepEqual(folders.readCommitted(), COMMITTED);
      assert.deepEqual(errors, []);
    });
  });

  for (const version of [1, 2, 3]) {
    test(`of version ${version} is read`, () => {
      withFolders((folders, file, errors) => {
        copyFileSync(sample(version), file);
        const expected = version < 3 ? { ...NOTHING, position: AT } : COMMITTED;
        assert.deepEqual(folders.readCommitted(), expected);
        assert.deepEqual(errors, []);
      });
    });
  }

  test("is written the same as in version 3", () => {
    withFolders((folders, file) => {
      folders.writeCommitted(COMMITTED);
      assert.deepEqual(readFileSync(file), readFileSync(sample(3)));
    });
  });

  test("counts as unknown, with an error in the log, where any bit of it changed or its end is missing", () => {
    withFolders((folders, file, errors) => {
      folders.writeCommitted(COMMITTED);
      const whole = readFileSync(file);
      const damaged = [
        ...Array.from({ length: 8 * (whole.length - 1) }, (_, bit) => {
          const bytes = Buffer.from(whole);
          bytes[bit >> 3]! ^= 1 << (bit & 7);
          return bytes;
        }),
        ...Array.from({ length: whole.length - 1 }, (_, length) => whole.subarray(0, length)),
      ];
      for (const bytes of damaged) {
        writeFileSync(file, bytes);
        assert.deepEqual(folders.readCommitted(), NOTHING, bytes.toString("latin1"));
      }
      assert.equal(errors.length, damaged.length);
    });
  });
});

suite("the metadata of an index", () => {
  const UUID = "7Qm2hV1xT3yqzC0nR4sKdw";
  const INDEX: IndexMetadata = {
    name: "lines",
    uuid: UUID,
    state: "open",
    settings: { numberOfShards: 1, numberOfReplicas: 0, creationDate: 5, raw: {} },
    mapping: parseMapping("lines", {}, { properties: { n: { type: "long" } } }, { version: 3 }),
    aliases: {},
  };
  const described = (use: (file: string, found: () => IndexMetadata[], errors: unknown[]) => void): void =>
    withFolders((folders, position, errors) => {
      folders.shard(UUID, 0);
      folders.describe(INDEX);
      use(join(position, "..", UUID, "index.json"), () => folders.indices(), errors);
    });

  test("is read as it was written, and from a file of a version without checksums", () => {
    described((file, found, errors) => {
      assert.deepEqual(found()[0]!.mapping.toJSON(), INDEX.mapping.toJSON());
      writeFileSync(file, encodeIndex(INDEX));
      assert.equal(found()[0]!.mapping.version, 3);
      assert.deepEqual(errors, []);
    });
  });

  test("isn't believed if a bit of it was changed", () => {
    described((file, found, errors) => {
      const whole = readFileSync(file);
      for (let bit = 0; bit < 8 * (whole.length - 1); bit++) {
        const bytes = Buffer.from(whole);
        bytes[bit >> 3]! ^= 1 << (bit & 7);
        writeFileSync(file, bytes);
        assert.deepEqual(found(), [], bytes.toString("latin1"));
      }
      assert.equal(errors.length, 8 * (whole.length - 1));
    });
  });

  test("of a version without checksums isn't believed without a name", () => {
    described((file, found) => {
      writeFileSync(file, Buffer.from(encodeIndex(INDEX)).toString().replace('"name"', '"oame"'));
      assert.deepEqual(found(), []);
    });
  });
});

test("an index that another thread removes at the same time is removed", (t) => {
  withFolders((folders) => {
    const shard = folders.shard("7Qm2hV1xT3yqzC0nR4sKdw", 0);
    const { readdirSync } = fs;
    const list = t.mock.method(fs, "readdirSync", ((folder: string) => {
      rmSync(folder, { recursive: true, force: true });
      return readdirSync(folder);
    }) as typeof readdirSync);
    syncBuiltinESMExports();
    try {
      folders.remove("7Qm2hV1xT3yqzC0nR4sKdw");
    } finally {
      list.mock.restore();
      syncBuiltinESMExports();
    }
    assert.equal(list.mock.callCount(), 1);
    assert.ok(!existsSync(shard));
  });
});

test("the entry of a new shard's folder is durable before anything is committed in it", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "shard-folders-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const folders = new ShardFolders(folder, silentLogger());
  const paths = new Map<number, string>();
  const synced: string[] = [];
  const { openSync, fsyncSync } = fs;
  t.mock.method(fs, "openSync", (...given: Parameters<typeof openSync>) => {
    const fd = openSync(...given);
    paths.set(fd, String(given[0]));
    return fd;
  });
  t.mock.method(fs, "fsyncSync", (fd: number) => {
    synced.push(paths.get(fd) ?? "");
    fsyncSync(fd);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  folders.shard("an-index", 0);
  folders.shard("an-index", 0);
  assert.deepEqual(synced, [join(folder, "an-index")]);
});
