/** Compares a document with the one that a module expects. */

type Json = Readonly<Record<string, unknown>>;

/** Files with a year in their times, whose datasets have none otherwise. */
const WITH_YEAR = ["tz-offset.log", "timestamp.log"];
const WITHOUT_YEAR = (
  "activemq.audit awsfargate.log cef.log cisco.asa cisco.ios cisco.nexus haproxy.log icinga.startup iptables.log " +
  "juniper.netscreen redis.log snort.log system.auth system.syslog zoom.webhook"
).split(" ");
/** Names of places and networks depend on a database that isn't part of the modules. */
const LEFT_OUT =
  /^agent\.|^event\.(?:created|ingested)$|^log\.file\.path$|^ecs\.version$|(?:^|\.)(?:geo|as)\./;

/** Returns what differs, as sentences; none where the documents are the same. */
export function differences(actual: Json, expected: Json, fileName: string): string[] {
  const [found, wanted] = [comparable(actual, fileName), comparable(expected, fileName)];
  const names = [...new Set([...found.keys(), ...wanted.keys()])].sort();
  return names.flatMap((name) => {
    const [a, b] = [found.get(name), wanted.get(name)];
    return a === b ? [] : [`${name}: ${a ?? "missing"}, expected ${b ?? "none"}`];
  });
}

/** Fields by their dotted names, values as JSON. */
function comparable(document: Json, fileName: string): Map<string, string> {
  const fields = new Map<string, unknown>();
  flatten(document, "", fields);
  const dataset = String(fields.get("event.dataset"));
  const tags = fields.get("tags");
  const isForwarded = Array.isArray(tags) && tags.includes("forwarded");
  const timeless = WITHOUT_YEAR.includes(dataset) && !WITH_YEAR.includes(fileName);
  return new Map(
    [...fields]
      .filter(
        ([name]) =>
          !LEFT_OUT.test(name) &&
          !(name === "host.name" && !isForwarded) &&
          !(name === "@timestamp" && timeless),
      )
      .map(([name, value]) => [name, JSON.stringify(ordered(name, value))]),
  );
}

function flatten(value: Json, prefix: string, into: Map<string, unknown>): void {
  for (const [key, each] of Object.entries(value)) {
    if (typeof each === "object" && each !== null && !Array.isArray(each))
      flatten(each as Json, `${prefix}${key}.`, into);
    else into.set(prefix + key, each);
  }
}

/** Keys of objects, and members of lists but those of process.args, in one order. */
function ordered(name: string, value: unknown): unknown {
  if (Array.isArray(value)) {
    const members = value.map((each) => JSON.stringify(ordered("", each)));
    return name === "process.args" ? members : members.sort();
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, each]) => [key, ordered(key, each)]);
}
