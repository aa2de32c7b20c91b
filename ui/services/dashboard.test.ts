import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Dashboard,
  EMPTY_DASHBOARD,
  exportDashboard,
  heightenPanel,
  importDashboard,
  movePanel,
  readDashboard,
  widenPanel,
  withIds,
} from "./dashboard.ts";

const DASHBOARD: Dashboard = {
  ...EMPTY_DASHBOARD,
  query: "status:500",
  refreshSeconds: 30,
  panels: [
    { id: "a", width: 6, height: "middle" },
    { id: "b", width: 12, height: "high" },
  ],
};
const SAVED = ["a", "b", "c"].map((id) => ({
  type: "visualisation" as const,
  id,
  revision: 1,
  updated: "",
  title: id.toUpperCase(),
  attributes: { parameters: "chart=line" },
}));

test("a dashboard goes through a file and takes only what it shows along", () => {
  const file = importDashboard(exportDashboard("Web", DASHBOARD, SAVED));
  assert.deepEqual([file.title, file.dashboard], ["Web", DASHBOARD]);
  assert.deepEqual(
    file.visualisations.map(({ id }) => id),
    ["a", "b"],
  );
  const moved = withIds(file.dashboard, new Map([["b", "new"]]));
  assert.deepEqual(
    moved.panels.map(({ id }) => id),
    ["new"],
  );
});

const WRONG: readonly (readonly [string, RegExp])[] = [
  ["{", /isn't JSON/],
  ["null", /no dashboard/],
  ['{"kind": "other"}', /no dashboard/],
  ['{"kind": "tailrace-dashboard", "version": 2}', /version 2/],
  ['{"kind": "tailrace-dashboard", "version": 1}', /missing/],
];

test("a file that holds no dashboard is refused with the reason", () => {
  for (const [text, reason] of WRONG) assert.throws(() => importDashboard(text), reason);
});

test("what isn't right in saved attributes is left out", () => {
  assert.deepEqual(readDashboard({}), EMPTY_DASHBOARD);
  const read = readDashboard({
    panels: [null, { id: 1 }, { id: "x", width: 5, height: "tall" }],
    refreshSeconds: -1,
  });
  assert.deepEqual(read.panels, [{ id: "x", width: 6, height: "middle" }]);
});

test("panels move and grow within their bounds", () => {
  const { panels } = DASHBOARD;
  assert.deepEqual(
    movePanel(panels, 0, 1).map(({ id }) => id),
    ["b", "a"],
  );
  assert.equal(movePanel(panels, 0, -1), panels);
  assert.deepEqual(
    [
      widenPanel(panels, 0, 1)[0]!.width,
      widenPanel(panels, 1, 1)[1]!.width,
      widenPanel(panels, 0, -1)[0]!.width,
    ],
    [8, 12, 4],
  );
  assert.deepEqual(
    [heightenPanel(panels, 0, -1)[0]!.height, heightenPanel(panels, 1, 1)[1]!.height],
    ["low", "high"],
  );
});
