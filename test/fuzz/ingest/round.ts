/** A round: a random ingest pipeline and documents, evaluated, simulated and indexed. */

import { Dice } from "../oracle/dice.ts";
import { written } from "../pipelines/times.ts";
import { Failed, type Fields, isObject, type Json, PlainDocument, Unspecified } from "./plain-document.ts";
import { path, randomProcessor, TIME_PATTERN, WORDS } from "./processors.ts";

interface Step {
  readonly body: Fields;
  readonly run: (document: PlainDocument) => void;
}

const DOCUMENTS = 12;

/** The result of a document. */
type Outcome = Fields | "failed" | "dropped";

export async function playRound(
  url: string,
  seed: number,
): Promise<{ documents: number; fault: string | undefined }> {
  const dice = new Dice(seed);
  const client = new Client(url);
  const inner = randomSteps(dice, undefined);
  const steps = randomSteps(dice, { name: `inner-${seed}`, steps: inner });
  const onFailure = dice.chance(0.3) ? [failureStep()] : undefined;
  const definition = { processors: bodies(steps), ...(onFailure && { on_failure: bodies(onFailure) }) };
  const sources = dice.times(DOCUMENTS, () => randomSource(dice));
  await client.send("PUT", `/_ingest/pipeline/inner-${seed}`, { processors: bodies(inner) });
  await client.send("PUT", `/_ingest/pipeline/outer-${seed}`, definition);
  const index = `ingest-${seed}`;
  await client.send("PUT", `/${index}`, { mappings: { _doc: { dynamic: false } } });
  try {
    const simulated = await client.simulate(`outer-${seed}`, index, sources);
    const indexed = await client.index(`outer-${seed}`, index, sources);
    const text = JSON.stringify({ inner: bodies(inner), definition });
    for (const [at, source] of sources.entries()) {
      const fault = faultOf(outcome(steps, onFailure, source), simulated[at]!, indexed[at]!);
      if (fault !== undefined)
        return { documents: at, fault: `${fault}\n${text}\nof ${JSON.stringify(source)}` };
    }
  } finally {
    await client.send("DELETE", `/${index}`);
    for (const name of ["outer", "inner"]) await client.send("DELETE", `/_ingest/pipeline/${name}-${seed}`);
  }
  return { documents: sources.length, fault: undefined };
}

/** Undefined as expectation: only that both are the same. A document that is dropped is simulated up to there. */
function faultOf(expected: Outcome | undefined, simulated: Outcome, indexed: Outcome): string | undefined {
  const shown = expected ?? simulated;
  const isDropped = indexed === "dropped" && expected === undefined;
  const fault = isDropped ? undefined : difference(shown, indexed);
  if (fault !== undefined) return `indexed: ${fault}`;
  const simulatedFault = indexed === "dropped" ? undefined : difference(shown, simulated);
  return simulatedFault === undefined ? undefined : `simulated: ${simulatedFault}`;
}

function bodies(steps: readonly Step[]): Fields[] {
  return steps.map(({ body }) => body);
}

function failureStep(): Step {
  return {
    body: { set: { field: "failure", value: "caught" } },
    run: (document) => document.set("failure", "caught"),
  };
}

function randomSteps(dice: Dice, inner: { name: string; steps: readonly Step[] } | undefined): Step[] {
  return dice.times(dice.between(1, 5), () => {
    const step = special(dice, inner) ?? randomProcessor(dice);
    return withFailure(dice, withCondition(dice, step));
  });
}

function special(dice: Dice, inner: { name: string; steps: readonly Step[] } | undefined): Step | undefined {
  if (inner !== undefined && dice.chance(0.15))
    return { body: { pipeline: { name: inner.name } }, run: (document) => runAll(inner.steps, document) };
  if (dice.chance(0.04))
    return {
      body: { drop: {} },
      run(document) {
        document.dropped = true;
      },
    };
  if (!dice.chance(0.05)) return undefined;
  return {
    body: { fail: { message: "no {{a}}" } },
    run() {
      throw new Failed("fail");
    },
  };
}

const CONDITIONS: readonly [painless: string, holds: (source: Fields) => boolean][] = [
  ["ctx.a == 'one'", ({ a }) => a === "one"],
  ["ctx.a != null", ({ a }) => a !== undefined && a !== null],
  ["ctx.b instanceof String && ctx.b.length() > 2", ({ b }) => typeof b === "string" && b.length > 2],
  ["ctx.n?.x == 5", ({ n }) => isObject(n) && n["x"] === 5],
  ["ctx.containsKey('list') && ctx.list instanceof List", ({ list }) => Array.isArray(list)],
  ["!(ctx.c == true)", ({ c }) => c !== true],
];

function withCondition(dice: Dice, { body, run }: Step): Step {
  if (!dice.chance(0.25)) return { body, run };
  const [condition, holds] = dice.pick(CONDITIONS);
  return {
    body: changed(body, { if: condition }),
    run(document) {
      const { n } = document.source;
      if (condition.includes("n?.x") && n !== undefined && n !== null && !isObject(n))
        throw new Unspecified("members of texts");
      if (holds(document.source)) run(document);
    },
  };
}

function withFailure(dice: Dice, { body, run }: Step): Step {
  const kind = dice.below(10);
  if (kind > 3) return { body, run };
  const handler = kind > 1 ? failureStep() : undefined;
  return {
    body: changed(body, handler === undefined ? { ignore_failure: true } : { on_failure: [handler.body] }),
    run(document) {
      try {
        run(document);
      } catch (error) {
        if (!(error instanceof Failed)) throw error;
        handler?.run(document);
      }
    },
  };
}

function changed(body: Fields, more: Fields): Fields {
  return Object.fromEntries(
    Object.entries(body).map(([type, settings]) => [type, { ...(settings as Fields), ...more }]),
  );
}

function runAll(steps: readonly Step[], document: PlainDocument): void {
  for (const { run } of steps) if (!document.dropped) run(document);
}

function outcome(
  steps: readonly Step[],
  onFailure: readonly Step[] | undefined,
  source: Fields,
): Outcome | undefined {
  const document = new PlainDocument(structuredClone(source));
  try {
    try {
      runAll(steps, document);
    } catch (error) {
      if (!(error instanceof Failed) || onFailure === undefined) throw error;
      runAll(onFailure, document);
    }
  } catch (error) {
    if (error instanceof Failed) return "failed";
    if (error instanceof Unspecified) return undefined;
    throw error;
  }
  return document.dropped ? "dropped" : document.source;
}

function randomSource(dice: Dice): Fields {
  const scalar = (): Json =>
    dice.pick<Json>([dice.pick(WORDS), dice.pick(WORDS), dice.between(-5, 20), dice.chance(0.5), null]);
  const source: Fields = {};
  for (const name of dice.some(["a", "b", "c"], dice.below(4))) source[name] = scalar();
  if (dice.chance(0.6))
    source["list"] = dice.times(dice.below(5), () => (dice.chance(0.7) ? dice.pick(WORDS) : scalar()));
  if (dice.chance(0.6)) source["n"] = { x: scalar(), ...(dice.chance(0.4) && { y: [scalar()] }) };
  if (dice.chance(0.7))
    source["t"] = dice.pick(["k=1 l=two", "k=1 k=2", "a=b x=y=z", "one", "k= l=", "one 12"]);
  if (dice.chance(0.7))
    source["js"] = dice.pick(['{"b":[1,"x"],"made":{"up":null}}', "[1,2]", '"text"', "{", '{"a":1}']);
  if (dice.chance(0.7))
    source["time"] = written(
      TIME_PATTERN,
      Date.UTC(
        dice.between(1990, 2030),
        dice.pick([0, 5, 10]),
        dice.between(1, 28),
        dice.between(3, 23),
        5,
        9,
      ),
    );
  if (dice.chance(0.05)) source[path(dice).split(".")[0]!] = scalar();
  return source;
}

function difference(expected: Outcome, found: Outcome | undefined): string | undefined {
  const [wanted, was] = [expected, found].map((each) => JSON.stringify(sorted(each)));
  return wanted === was ? undefined : `expected ${wanted}\nfound    ${was}`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((name) => [name, sorted(value[name])]),
  );
}

class Client {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async send(method: string, where: string, body?: unknown): Promise<unknown> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const headers = {
      "content-type": typeof body === "string" ? "application/x-ndjson" : "application/json",
    };
    const response = await fetch(this.#url + where, {
      method,
      headers,
      ...(text !== undefined && { body: text }),
    });
    const answer = await response.text();
    if (!response.ok) throw new Error(`${method} ${where} ${text}: ${answer}`);
    return JSON.parse(answer) as unknown;
  }

  async simulate(pipeline: string, index: string, sources: readonly Fields[]): Promise<Outcome[]> {
    const docs = sources.map((source, at) => ({ _index: index, _id: String(at), _source: source }));
    const answer = (await this.send("POST", `/_ingest/pipeline/${pipeline}/_simulate`, { docs })) as {
      docs: ({ doc?: { _source: Fields }; error?: unknown } | null)[];
    };
    return answer.docs.map((each) => (each === null ? "dropped" : (each.doc?._source ?? "failed")));
  }

  async index(pipeline: string, index: string, sources: readonly Fields[]): Promise<Outcome[]> {
    const lines = sources.flatMap((source, at) => [
      { index: { _index: index, _type: "_doc", _id: String(at) } },
      source,
    ]);
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const { items } = (await this.send("POST", `/_bulk?pipeline=${pipeline}`, body)) as {
      items: { index: { error?: unknown; result?: string } }[];
    };
    const ids = sources.map((_, at) => String(at));
    const { docs } = (await this.send("POST", `/${index}/_doc/_mget`, { ids })) as {
      docs: { _source: Fields }[];
    };
    return items.map(({ index: { error, result } }, at) =>
      error !== undefined ? "failed" : result === "noop" ? "dropped" : docs[at]!._source,
    );
  }
}
