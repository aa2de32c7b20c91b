/**
 * Creates the agent's inputs from the settings, starts them, replaces them when the settings change, and stops them.
 */

import type { InputContext, InputMetrics } from "#agent/contract/input.ts";
import type { Output } from "#agent/contract/output.ts";
import type { AgentSettings } from "#agent/settings/config.ts";
import type { InputSettings } from "#agent/settings/input-settings.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { type Component, withDeadline } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { outputFileOf } from "./create-output.ts";
import { isNear } from "./harvester/descriptor-reader.ts";
import { hasSpool } from "./inputs/streams/stream-sink.ts";
import { ownFiles, probeBirthTimes } from "./machine.ts";
import type { Registry } from "./registry/registry.ts";
import { OrphanedSpools } from "./spool/orphaned-spools.ts";
import type { NamedInput } from "./status.ts";
import { SupervisedInput } from "./supervised-input.ts";

/** Inputs end their reads within this time; a read that hangs on a dead disk must not hold up the rest. */
const INPUT_STOP_MS = 2_000;
/**
 * Batches in flight of ending inputs may be acknowledged within this time; later ones are sent twice and dropped by the
 * hub.
 */
const RELOAD_DRAIN_MS = 1_000;

/** An input with the settings that it was made from. */
interface RunningInput extends NamedInput {
  readonly input: SupervisedInput;
  readonly made: string;
  readonly heldSlots: number;
  /** See `hasSpool`. */
  readonly hasSpool: boolean;
}

export interface AgentInputsOptions {
  readonly settings: AgentSettings;
  readonly registry: Registry;
  readonly output: Output;
  readonly metrics: InputMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when all inputs have ended by themselves, as standard input does. */
  readonly onEnded: () => void;
}

export class AgentInputs implements Component {
  readonly #options: AgentInputsOptions;
  readonly #isOwnFile: InputContext["isOwnFile"];
  readonly #hasBirthTimes: boolean;
  readonly #ended = new Set<string>();
  /** Never replaced: the status reads it. */
  readonly #running: RunningInput[] = [];
  /** Inputs that a reload ended with batches in flight; each such batch occupies a slot of the output. */
  #endedUnacknowledged: RunningInput[] = [];
  /** Slots of the output that inputs hold while they wait, at most so far. */
  #heldSlots: number;
  #orphanedSpools: OrphanedSpools | undefined;
  #stopping = false;

  /** Makes the inputs of the settings, which `start` starts. */
  constructor(options: AgentInputsOptions) {
    const { settings, log } = options;
    this.#options = options;
    this.#isOwnFile = ownFiles(settings.pathData, outputFileOf(settings));
    this.#hasBirthTimes = probeBirthTimes(settings.pathData, log);
    this.#heldSlots = heldSlots(settings);
    this.#running.push(...this.#create(settings));
  }

  /** The inputs that run; the array stays the same. */
  get running(): readonly NamedInput[] {
    return this.#running;
  }

  /** Names spools that can't be sent; empty for none. */
  get spoolProblem(): string {
    return this.#orphanedSpools?.problem ?? "";
  }

  async start(): Promise<void> {
    for (const { input } of this.#running) await input.start();
    this.#sendOrphanedSpools();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all([...this.#running.map(({ input }) => input.stop()), this.#orphanedSpools?.stop()]);
  }

  /** Ends the inputs, but doesn't wait for one that hangs. */
  stopInTime(): Promise<void> {
    return this.#inTime(this.stop());
  }

  /** After `stop`: stores what isn't acknowledged and closes the files, see Input.preserve and Input.release. */
  release(): void {
    for (const { input } of this.#endedUnacknowledged) input.preserve();
    for (const { input } of this.#running) {
      input.preserve();
      input.release();
    }
  }

  /**
   * Runs the inputs of `settings` instead: unchanged ones continue, others end and begin. Files keep their positions,
   * which are in the registry.
   */
  async reload(settings: AgentSettings): Promise<void> {
    if (this.#stopping) return;
    const { output } = this.#options;
    const next = this.#create(settings);
    const isSame = (a: RunningInput, b: RunningInput): boolean => a.id === b.id && a.made === b.made;
    const ending = this.#running.filter((old) => !next.some((each) => isSame(old, each)));
    const beginning = next.filter((each) => !this.#running.some((old) => isSame(old, each)));
    await this.#inTime(
      Promise.all([this.#orphanedSpools?.stop(), ...ending.map(({ input }) => input.stop())]),
    );
    if (ending.length > 0) await output.drained(AbortSignal.timeout(RELOAD_DRAIN_MS));
    for (const { input } of ending) input.release();
    this.#endedUnacknowledged = [...this.#endedUnacknowledged, ...ending].filter(({ input }) =>
      input.hasUnacknowledged(),
    );
    this.#running.splice(0, this.#running.length, ...this.#running.filter((each) => !ending.includes(each)));
    const held = heldSlots(settings);
    output.slots.extend(Math.max(0, held - this.#heldSlots));
    this.#heldSlots = Math.max(held, this.#heldSlots);
    for (const each of beginning) {
      await each.input.start();
      this.#running.push(each);
    }
    this.#sendOrphanedSpools();
  }

  /** Makes the inputs read again what the hub has lost. */
  rewind(): void {
    for (const { input } of this.#running) input.rewind?.();
  }

  #create({ inputs }: AgentSettings): RunningInput[] {
    const ids = new Set(inputs.map(({ id }) => id));
    const isInput = (id: string): boolean => ids.has(id);
    return inputs.map((each) => this.#createInput(each, isInput));
  }

  #createInput(
    { id, plugin, options, fieldsJson }: InputSettings,
    isInput: InputContext["isInput"],
  ): RunningInput {
    const { settings, registry, output, metrics, clock, log } = this.#options;
    // Exported as 0 while nothing is lost: an alert can't detect the first event of a series that begins with it.
    metrics.lostBytes.inc({ input: id }, 0);
    const context: InputContext = {
      id,
      isInput,
      fieldsJson,
      output,
      registry,
      metrics,
      clock,
      log: log.child({ input: id }),
      lingerMs: settings.lingerMs,
      batchBytes: settings.batchBytes,
      dataFolder: settings.pathData,
      isOwnFile: this.#isOwnFile,
      hasBirthTimes: this.#hasBirthTimes,
      isNear,
      onEnd: () => this.#onEnd(id),
    };
    const input = new SupervisedInput({
      id,
      create: () => plugin.create(options, context),
      clock,
      log: context.log,
    });
    const made = JSON.stringify([plugin.type, options, Buffer.from(fieldsJson).toString()]);
    const { type, heldSlots: held } = plugin;
    return { id, type, input, made, heldSlots: held, hasSpool: hasSpool(options) };
  }

  #onEnd(id: string): void {
    this.#ended.add(id);
    if (this.#running.every((each) => this.#ended.has(each.id))) this.#options.onEnded();
  }

  /** Waits for the end of inputs, but not for one that hangs. */
  async #inTime(ended: Promise<unknown>): Promise<void> {
    await withDeadline(ended, INPUT_STOP_MS, "the end of the inputs").catch((error: unknown) =>
      this.#options.log.warn({ error }, "an input did not end in time"),
    );
  }

  #sendOrphanedSpools(): void {
    if (this.#stopping) return;
    this.#orphanedSpools = new OrphanedSpools({
      ...this.#options,
      inputIds: this.#running.flatMap((each) => (each.hasSpool ? [each.id] : [])),
      dataFolder: this.#options.settings.pathData,
    });
    this.#orphanedSpools.start();
  }
}

/** Returns how many slots of the output the inputs of `settings` hold while they wait. */
export function heldSlots({ inputs }: AgentSettings): number {
  return inputs.reduce((sum, { plugin }) => sum + plugin.heldSlots, 0);
}
