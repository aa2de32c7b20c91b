import assert from "node:assert/strict";
import { test } from "node:test";
import {
  boxOf,
  fitView,
  MAX_ZOOM,
  moveView,
  pointName,
  precisionOf,
  readMapView,
  readRing,
  WORLD,
  writeMapView,
  writeRing,
} from "./map-view.ts";
import { joinPlaces, type Place, placesRequest, readPlaces } from "./places.ts";

const COUNT = { kind: "count", field: "" } as const;
const BERLIN = { lat: 52.52, lon: 13.405 };

test("a view and a ring survive the address, and what can't be on earth is none", () => {
  const view = { zoom: 4.5, ...BERLIN };
  assert.deepEqual(readMapView(writeMapView(view)), view);
  const ring = { km: 12.5, ...BERLIN };
  assert.deepEqual(readRing(writeRing(ring)), ring);
  for (const text of ["", "1", "2:91:0", "2:0:181", "0.5:0:0", "2::0", "x:0:0", "1:2:3:4"])
    assert.equal(readMapView(text), undefined, text);
  for (const text of ["0:0:0", "-1:0:0", "30000:0:0"]) assert.equal(readRing(text), undefined, text);
});

test("a view moves by parts of its width and stays on earth", () => {
  assert.deepEqual(moveView({ lat: 0, lon: 0, zoom: 4 }, { dx: 0.5, dy: -0.5 }), {
    zoom: 4,
    lat: -45,
    lon: 45,
  });
  const far = moveView({ lat: 70, lon: 170, zoom: 300 }, { dx: 100, dy: 100, zoom: 10 });
  assert.deepEqual(far, { zoom: MAX_ZOOM, lat: 80, lon: 180 });
});

test("a fitted view holds its box, over the date line too", () => {
  const europe = fitView({ top: 60, bottom: 40, left: 0, right: 30 });
  assert.deepEqual([europe.lat, europe.lon], [50, 15]);
  const box = boxOf(europe)!;
  assert.ok(box.left < 0 && box.right > 30 && box.top > 60 && box.bottom < 40);
  assert.equal(fitView({ top: 0, bottom: -20, left: 170, right: -170 }).lon, 180);
  assert.equal(fitView({ top: 1, bottom: 1, left: 1, right: 1 }).zoom, 32);
  assert.equal(boxOf(WORLD), undefined);
});

test("the nearer a map, the finer its cells", () => {
  assert.deepEqual(
    [1, 3.2, 32, 100, MAX_ZOOM].map((zoom) => precisionOf({ ...WORLD, zoom })),
    [3, 4, 5, 5, 6],
  );
});

test("a request asks for the places in sight, all bounds, and the ring", () => {
  const near = { ...BERLIN, zoom: 10 };
  const aggs = placesRequest("place", near, { km: 20, ...BERLIN }, undefined);
  assert.match(JSON.stringify(aggs["seen"]), /geo_bounding_box.*"precision":4/);
  assert.match(JSON.stringify(aggs["within"]), /"20km"/);
  assert.match(JSON.stringify(placesRequest("place", WORLD, undefined, undefined)["seen"]), /exists/);
});

test("an answer becomes places, named by where they are", () => {
  const cell = (doc_count: number, lat: number, lon: number) => ({
    key: "u",
    doc_count,
    middle: { location: { lat, lon } },
    metric: { value: doc_count * 2 },
  });
  const aggregations = {
    bounds: { bounds: { top_left: { lat: 52, lon: -9 }, bottom_right: { lat: -33, lon: 13 } } },
    within: { doc_count: 3 },
    seen: { cells: { buckets: [cell(5, 52.52, 13.405), cell(2, -33.9, -9.1), { key: "x", doc_count: 1 }] } },
    metric: { value: 9 },
  };
  const answer = { hits: { total: { value: 8 } }, aggregations };
  const data = readPlaces(answer, { kind: "sum", field: "bytes" }, "Sum of bytes");
  assert.deepEqual(
    data.groups.map(({ label }) => label),
    ["52.52° N, 13.40° E", "33.90° S, 9.10° W"],
  );
  assert.deepEqual(data.series, [{ name: "Sum of bytes", value: "", part: "value", values: [10, 4] }]);
  assert.deepEqual([data.total, data.within, data.bounds?.bottom], [9, 3, -33]);
  assert.deepEqual(readPlaces({ hits: { total: 0 } }, COUNT, "lines").places, []);
});

test("places near each other are one circle where their measures add up", () => {
  const place = (lon: number, count: number, value = count): Place => ({ lat: 0, lon, count, value });
  const places = [place(1, 2), place(0, 5), place(50, 1), place(99, 9)];
  const project = ({ lon }: { lon: number }) => (lon > 90 ? undefined : ([lon, 0] as const));
  const found = joinPlaces(places, COUNT, 20, project);
  assert.deepEqual(
    found.map(({ lon, count, value, size }) => [lon, count, value, size]),
    [
      [0, 7, 7, 2],
      [50, 1, 1, 1],
    ],
  );
  assert.equal(joinPlaces(places, { kind: "min", field: "f" }, 20, project)[0]!.value, 2);
  assert.equal(joinPlaces(places, { kind: "avg", field: "f" }, 20, project).length, 3);
  assert.equal(pointName({ lat: -0.001, lon: 0 }), "0.00° S, 0.00° E");
});
