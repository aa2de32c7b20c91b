import { mkdtempSync, rmSync } from "node:fs";
import { silentLogger } from "#proto/kit/log.ts";
import { Analysis } from "./analysis/analysis.ts";
import { Mapping } from "./mapping/mapping.ts";
import { Shard } from "./shard.ts";

const dir = mkdtempSync("/tmp/eng/b-");
let mapping = Mapping.parse(process.argv[3] ? {} : { properties: { message: { type: "text" } } }, {
  index: "b",
  analysis: new Analysis(),
});
const words = [
  "GET",
  "/index.html",
  "POST",
  "error",
  "timeout",
  "connection",
  "refused",
  "user",
  "10.0.0.1",
  "Mozilla/5.0",
  "(X11;",
  "Linux",
  "x86_64)",
  "Chrome/120.0",
  "status=200",
  "took",
  "ms",
  "cache",
  "miss",
  "hit",
];
let seed = 1;
const rnd = (n: number) => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) % n;
const docs: Uint8Array[] = [];
let bytes = 0;
const N = Number(process.argv[2] ?? 100000);
for (let i = 0; i < N; i++) {
  let m = "";
  for (let k = 0; k < 22; k++) m += words[rnd(words.length)] + " ";
  m += rnd(100000000);
  const s = Buffer.from(
    JSON.stringify({
      "@timestamp": new Date(1.7e12 + i * 13).toISOString(),
      message: m,
      host: { name: "web-" + rnd(20) },
      log: { file: { path: "/var/log/app" + rnd(5) + ".log" }, offset: i * 200 },
      http: { response: { status_code: 200 + rnd(5) * 100 } },
      tags: ["a", "b"],
    }),
  );
  docs.push(s);
  bytes += s.length;
}
const shard = Shard.open(dir, { index: "b", mapping, log: silentLogger() });
const dyn0 = process.cpuUsage();
for (const d of docs) {
  const u = mapping.dynamicUpdate(d, true);
  if (u) {
    mapping = mapping.merge(u);
    shard.setMapping(mapping);
  }
}
const dyn = process.cpuUsage(dyn0);
console.log("dynamicUpdate docs/s", Math.round(N / ((dyn.user + dyn.system) / 1e6)));
const c0 = process.cpuUsage();
const t0 = performance.now();
let seq = 0;
for (let i = 0; i < N; i += 500) {
  const operations = docs.slice(i, i + 500).map((source, k) => ({
    kind: 0,
    id: "id-" + (i + k).toString().padStart(16, "0"),
    source,
    ordinal: k,
    appendOnly: true,
  }));
  shard.apply({ lenient: true, operations }, { incarnation: 1, sequence: ++seq });
}
const c1 = process.cpuUsage(c0);
shard.refresh();
const c2 = process.cpuUsage(c0);
shard.commit();
const c3 = process.cpuUsage(c0);
const sec = (c: NodeJS.CpuUsage) => (c.user + c.system) / 1e6;
console.log({
  bytesPerDoc: bytes / N,
  apply: Math.round(N / sec(c1)),
  refresh: Math.round(N / sec(c2)),
  commit: Math.round(N / sec(c3)),
  wall: Math.round(performance.now() - t0),
  stats: shard.stats(),
  ratio: shard.stats().bytes / bytes,
});
const m0 = process.cpuUsage();
await shard.forceMerge(1);
console.log(
  "merge docs/s",
  Math.round(N / sec(process.cpuUsage(m0))),
  shard.stats(),
  shard.stats().bytes / bytes,
);
const s = shard.searcher();
const q0 = performance.now();
const cur = s.segments[0]!.postings("message", "error", { positions: true })!;
let n = 0;
while (cur.next() !== 0x7fffffff) n += cur.freq;
console.log("term", n, cur.docFreq, performance.now() - q0);
s.close();
for (let i = 0; i < 1000; i++)
  shard.apply(
    { lenient: true, operations: [{ kind: 0, id: "n" + i, source: docs[i]! }] },
    { incarnation: 1, sequence: ++seq },
  );
const r0 = performance.now();
shard.refresh();
console.log("refresh 1000", performance.now() - r0);
console.log(process.memoryUsage().rss / 1e6);
shard.close();
rmSync(dir, { recursive: true });
