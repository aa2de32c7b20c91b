import assert from "node:assert/strict";
import { test } from "node:test";
import { type Dashboard, dashboardFilter, EMPTY_DASHBOARD, readDashboard } from "./dashboard.ts";
import { exportDashboard, importDashboard, withIds } from "./dashboard-file.ts";
import { changeLook, chooseVariables, readLook } from "./dashboard-look.ts";
import { heightenPanel, movePanel, placePanel, resizePanel, widenPanel } from "./panel-grid.ts";

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

test("texts and lines of searches go through a file, too", () => {
  const text = { id: "text-1", width: 4, height: "low", kind: "text", text: "**on call**" } as const;
  const lines = { id: "s", width: 12, height: "middle", kind: "search" } as const;
  const search = { ...SAVED[0]!, type: "search" as const, id: "s" };
  const dashboard: Dashboard = { ...DASHBOARD, panels: [text, lines] };
  const file = importDashboard(exportDashboard("Web", dashboard, SAVED, [search]));
  assert.deepEqual(file.dashboard, dashboard);
  assert.deepEqual([file.visualisations, file.searches?.map(({ id }) => id)], [[], ["s"]]);
  const { panels } = withIds(file.dashboard, new Map([["s", "new"]]));
  assert.deepEqual(panels, [text, { ...lines, id: "new" }]);
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
    variables: [null, { field: 1 }, { field: "host", value: 5 }],
    refreshSeconds: -1,
  });
  assert.deepEqual(read.variables, [{ field: "host", value: "" }]);
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

test("a panel is put at another's place, and pulled to the nearest size", () => {
  const panels = ["a", "b", "c"].map((id) => ({ id, width: 6, height: "middle" }) as const);
  const order = (list: readonly { readonly id: string }[]): string => list.map(({ id }) => id).join("");
  assert.equal(order(placePanel(panels, 0, 2)), "bca");
  assert.equal(order(placePanel(panels, 2, 0)), "cab");
  assert.equal(placePanel(panels, 0, 3), panels);
  const [first] = resizePanel(panels, 0, { widthPx: 390, heightPx: 180, gridPx: 1_200 });
  assert.deepEqual(first, { id: "a", width: 4, height: "low" });
  assert.equal(resizePanel(panels, 0, { widthPx: 610, heightPx: 310, gridPx: 1_200 }), panels);
});

const VARIABLES = [
  { field: "host.name", value: "" },
  { field: "url path", value: 'a "b"' },
];

test("chosen values are part of what all panels search, exactly as they are", () => {
  assert.equal(dashboardFilter("", [VARIABLES[0]!]), "");
  assert.equal(dashboardFilter("*", VARIABLES), String.raw`url\ path:"a \"b\""`);
  const chosen = chooseVariables(VARIABLES, ["host.name=web=1", "other=x", "url path="]);
  assert.equal(dashboardFilter("a OR b", chosen), '(a OR b) AND host.name:"web=1"');
});

test("an address says what is looked at where that isn't what was saved", () => {
  const saved = { ...DASHBOARD, variables: VARIABLES };
  const begin = readLook(new URLSearchParams("id=1"), saved, true);
  assert.deepEqual([begin.query, begin.refreshSeconds, begin.isUtc], ["status:500", 30, true]);
  let address = new URLSearchParams("id=1&var=host.name%3Dold");
  for (const change of [
    { range: { from: "now-1h", to: "now" } },
    { query: "", refreshSeconds: 0, isUtc: false, isEditing: true },
    { variable: { field: "host.name", value: "web-1" } },
  ])
    address = changeLook(address, change);
  const look = readLook(address, saved, true);
  assert.deepEqual(look.range, { from: "now-1h", to: "now" });
  assert.deepEqual([look.query, look.refreshSeconds, look.isUtc, look.isEditing], ["", 0, false, true]);
  assert.equal(look.variables[0]!.value, "web-1");
  assert.equal(changeLook(address, { isEditing: false }).has("edit"), false);
});
