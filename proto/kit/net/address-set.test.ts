import assert from "node:assert/strict";
import { test } from "node:test";
import { AddressSet, isNetwork } from "./address-set.ts";

const ROWS: readonly (readonly [network: string, inside: readonly string[], outside: readonly string[]])[] = [
  ["192.0.2.7", ["192.0.2.7", "::ffff:192.0.2.7"], ["192.0.2.8", "", "host"]],
  ["192.0.2.0/24", ["192.0.2.0", "192.0.2.255"], ["192.0.3.0", "::1"]],
  ["0.0.0.0/0", ["1.2.3.4"], ["::1"]],
  ["2001:db8::/32", ["2001:db8::1", "2001:db8:ffff::"], ["2001:db9::", "10.0.0.1"]],
  ["::1", ["::1"], ["::2"]],
];

for (const [network, inside, outside] of ROWS) {
  test(`${network} has its addresses and no others`, () => {
    const set = new AddressSet([network]);
    assert.deepEqual(
      [...inside, ...outside].filter((address) => set.has(address)),
      inside,
    );
  });
}

test("what is no network is refused and adds nothing", () => {
  const wrong = [
    "",
    "host",
    "192.0.2.0/33",
    "192.0.2.0/",
    "192.0.2.0/8/8",
    "::/129",
    "192.0.2.0/-1",
    "192.0.2.0/08x",
  ];
  const set = new AddressSet();
  assert.deepEqual(
    wrong.filter((text) => isNetwork(text) || set.add(text)),
    [],
  );
  assert.equal(set.has("192.0.2.1"), false);
});

test("a range has its ends; one that ends before it begins, or mixes families, is refused", () => {
  const set = new AddressSet();
  assert.equal(set.addRange("10.0.0.5", "10.0.0.7"), true);
  assert.deepEqual(
    ["10.0.0.4", "10.0.0.5", "10.0.0.7", "10.0.0.8"].filter((address) => set.has(address)),
    ["10.0.0.5", "10.0.0.7"],
  );
  assert.equal(set.addRange("10.0.0.7", "10.0.0.5"), false);
  assert.equal(set.addRange("10.0.0.7", "::1"), false);
  assert.equal(set.addRange("10.0.0.7", "host"), false);
});
