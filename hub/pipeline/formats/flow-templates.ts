/** Templates of the senders of flow records. Anybody may send templates, so a sender's templates evict only its own. */

import type { FlowField } from "./flow-fields.ts";

/** Fields of all templates of a sender; of more its oldest templates are forgotten. */
const MAX_SENDER_FIELDS = 8192;
/** Fields of all senders, some 60 bytes each, and senders; of more those are forgotten that sent nothing for longest. */
const MAX_FIELDS = 524_288;
const MAX_SENDERS = 4096;

export interface TemplateField extends FlowField {
  /** Bytes. */
  readonly length: number;
}

export interface Template {
  readonly fields: readonly TemplateField[];
  readonly sinceMs: number;
}

interface Sender {
  /** By their sources and numbers, the oldest first. */
  readonly templates: Map<string, Template>;
  /** Of all its templates. */
  fields: number;
}

export class FlowTemplates {
  /** By their addresses, the one that sent nothing for longest first. */
  readonly #senders = new Map<string, Sender>();
  /** Of all senders. */
  #fields = 0;

  /** Returns a template; its sender counts as the one that sent last. */
  get(address: string, key: string): Template | undefined {
    const sender = this.#senders.get(address);
    if (sender === undefined) return undefined;
    this.#senders.delete(address);
    this.#senders.set(address, sender);
    return sender.templates.get(key);
  }

  /** Replaces a template; one without fields is withdrawn. */
  set(address: string, key: string, template: Template): void {
    this.#forget(address, key);
    if (template.fields.length === 0) return;
    const sender = this.#senders.get(address) ?? { templates: new Map<string, Template>(), fields: 0 };
    this.#senders.delete(address);
    this.#senders.set(address, sender);
    sender.templates.set(key, template);
    sender.fields += template.fields.length;
    this.#fields += template.fields.length;
    while (sender.fields > MAX_SENDER_FIELDS) this.#forget(address, sender.templates.keys().next().value!);
    while (this.#fields > MAX_FIELDS || this.#senders.size > MAX_SENDERS) this.#forgetSender();
  }

  #forget(address: string, key: string): void {
    const sender = this.#senders.get(address);
    const template = sender?.templates.get(key);
    if (sender === undefined || template === undefined) return;
    sender.templates.delete(key);
    sender.fields -= template.fields.length;
    this.#fields -= template.fields.length;
    if (sender.templates.size === 0) this.#senders.delete(address);
  }

  #forgetSender(): void {
    const [address, { fields }] = this.#senders.entries().next().value!;
    this.#senders.delete(address);
    this.#fields -= fields;
  }
}
