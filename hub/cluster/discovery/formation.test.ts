import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { conflictOfFounders, conflictWith, type Decision, decide, grownFrom } from "./formation.ts";
import type { Hello, StoreState } from "./hello.ts";

function hello(store: StoreState, given: Partial<Hello> = {}): Hello {
  return {
    version: 1,
    process: "p2",
    node: "hub-2",
    cluster: "tailrace",
    id: "",
    release: "1.0.0",
    routePort: 6222,
    size: 3,
    store,
    led: store === "formed",
    grows: "",
    ...given,
  };
}

describe("a hub of three enters its cluster", () => {
  for (const [name, own, others, expected] of [
    ["with its store, whoever answers", "formed", [], "start"],
    ["when it was interrupted while the store was made", "founding", [], "start"],
    ["to make the store, when all others have none", "empty", ["empty", "empty"], "found"],
    ["to make the store, when others have begun to", "empty", ["founding", "empty"], "found"],
    ["to get its part of the store from two that have one", "empty", ["formed", "formed"], "join"],
    ["not before all others answer", "empty", ["empty"], "wait"],
    [
      "not while only one of them has a store: what it lacks may be on the one that is away",
      "empty",
      ["formed"],
      "wait",
    ],
    ["not while the second is about to have the store", "empty", ["formed", "founding"], "wait"],
    ["not alone", "empty", [], "wait"],
  ] as const satisfies readonly (readonly [string, StoreState, readonly StoreState[], Decision])[]) {
    test(name, () =>
      assert.equal(
        decide(
          own,
          3,
          others.map((store) => hello(store)),
        ),
        expected,
      ),
    );
  }

  test("not while another one doesn't know how many they are", () => {
    assert.equal(decide("empty", 3, [hello("empty"), hello("empty", { size: 0 })]), "wait");
  });

  test("not while the others that have the store are only starting", () => {
    const [running, starting] = [hello("formed"), hello("formed", { led: false })];
    assert.equal(decide("empty", 3, [running, starting]), "wait");
    assert.equal(decide("empty", 3, [starting, starting]), "wait");
  });

  test("of five, beside three that have the store", () => {
    assert.equal(decide("empty", 5, [hello("formed"), hello("formed")]), "wait");
    assert.equal(decide("empty", 5, [hello("formed"), hello("formed"), hello("formed")]), "join");
  });
});

const OWN = { node: "hub-1", cluster: "tailrace", id: "uuid-1", size: 3, store: "empty" as const };

describe("a hub refuses to start beside one", () => {
  const own = { ...OWN, grows: "" };
  for (const [name, other, message] of [
    ["of another cluster", { cluster: "other" }, /cluster\.name is "tailrace": set the same/],
    ["of its own name", { node: "hub-1" }, /set node\.name to a name of its own/],
    ["of another store", { id: "uuid-2" }, /set path\.data to a new folder/],
  ] as const) {
    test(name, () => assert.match(conflictWith(own, hello("formed", other), "b:9300") ?? "", message));
  }

  test("but not beside one that has no store yet, or the same", () => {
    for (const id of ["", "uuid-1"])
      assert.equal(conflictWith(own, hello("formed", { id }), "b:9300"), undefined);
  });

  test("that founds the store with another number of hubs", () => {
    assert.match(
      conflictOfFounders(own, [hello("empty", { size: 5 })]) ?? "",
      /names 3 hubs here and 5 on "hub-2"/,
    );
    assert.equal(conflictOfFounders(own, [hello("empty")]), undefined);
  });
});

describe("a single hub with data", () => {
  const own = { ...OWN, grows: "uuid-1" };
  for (const [name, store, grows, message] of [
    ["founds a cluster with hubs that have no store", "empty", "", undefined],
    ["goes on founding it after it was killed", "founding", "uuid-1", undefined],
    ["doesn't join a cluster that has a store", "formed", "", /can't be merged: set path\.data/],
    ["doesn't join one that another single hub's data went into", "formed", "uuid-2", /can't be merged/],
    ["doesn't join the cluster that its data went into", "formed", "uuid-1", /can't be merged/],
    [
      "doesn't join hubs that found a store without it",
      "founding",
      "",
      /or, where that cluster holds nothing, empty/,
    ],
    ["doesn't start beside another one", "empty", "uuid-2", /of which only one's can become the cluster's/],
  ] as const) {
    test(name, () => {
      const conflict = conflictWith(own, hello(store, { grows, id: "" }), "b:9300");
      if (message === undefined) assert.equal(conflict, undefined);
      else assert.match(conflict ?? "", message);
    });
  }

  test("hinders no hub that has its store already", () => {
    for (const store of ["founding", "formed"] as const)
      assert.equal(
        conflictWith({ ...own, store, grows: "" }, hello("empty", { grows: "uuid-2", id: "" }), "b:9300"),
        undefined,
      );
  });

  test("founds no cluster with a hub of a version that wouldn't wait for its data", () => {
    const { grows: _, ...old } = hello("empty");
    assert.match(conflictOfFounders(own, [old]) ?? "", /install the same version on all/);
    assert.match(
      conflictOfFounders({ ...own, grows: "" }, [old, hello("empty", { grows: "uuid-1" })]) ?? "",
      /install the same version on all/,
    );
    assert.equal(conflictOfFounders({ ...own, grows: "" }, [old]), undefined);
  });

  test("gives the store to be its own, whichever hub says so", () => {
    assert.equal(grownFrom(own, [hello("empty")]), "uuid-1");
    assert.equal(grownFrom({ grows: "" }, [hello("empty"), hello("empty", { grows: "uuid-1" })]), "uuid-1");
    assert.equal(grownFrom({ grows: "" }, [hello("empty")]), "");
  });
});
