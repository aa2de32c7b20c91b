import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Level } from "level";
import { isTableIntact } from "./table-check.ts";

/** Two handles, unused bytes, and a number that names the format. */
const FOOTER_BYTES = 48;

/** Returns a table that LevelDB has written. */
async function writtenTable(t: TestContext, options: { readonly compression: boolean }): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-table-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const database = new Level<string, string>(folder, options);
  for (let row = 0; row < 500; row++)
    await database.put(`f/fd00-${row}`, JSON.stringify({ row, path: `/var/log/${row * row}` }));
  await (database as unknown as { compactRange(from: string, to: string): Promise<void> }).compactRange(
    "a",
    "z",
  );
  await database.close();
  const name = readdirSync(folder).find((each) => each.endsWith(".ldb"))!;
  return readFileSync(join(folder, name));
}

for (const compression of [true, false])
  test(`a ${compression ? "compressed" : "plain"} table is intact as it was written, and not with any byte changed`, async (t) => {
    const table = await writtenTable(t, { compression });
    assert.equal(isTableIntact(table), true);
    const blocksEnd = table.length - FOOTER_BYTES;
    for (let at = 0; at < blocksEnd; at += at < blocksEnd - 500 ? 37 : 1) {
      table[at]! ^= 0x10;
      assert.equal(isTableIntact(table), false, `byte ${at} of ${table.length}`);
      table[at]! ^= 0x10;
    }
  });

test("a table that ends too early is left to LevelDB", async (t) => {
  const table = await writtenTable(t, { compression: true });
  for (const length of [0, 7, 47, 48, 1_000, table.length - 1])
    assert.equal(isTableIntact(table.subarray(0, length)), true, `${length} bytes`);
});
