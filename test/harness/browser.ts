/** A Chromium for tests: the system's, without its own network requests. */

import { EventEmitter, once } from "node:events";
import { existsSync } from "node:fs";
import type { Browser, Page } from "playwright-core";

const BINARIES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts a browser. Throws with the remedy where there is none. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = [process.env["TAILRACE_CHROMIUM"] ?? "", ...BINARIES].find(existsSync);
  if (executablePath === undefined) {
    throw new Error("there is no Chromium; run bash deploy/setup.sh --with-browser or set TAILRACE_CHROMIUM");
  }
  // Loaded where it is used: the list of benchmarks, which knows those of pages, needs it not.
  const { chromium } = await import("playwright-core");
  return chromium.launch({ executablePath, args: FLAGS });
}

export interface WatchedPage {
  readonly page: Page;
  /** Errors of scripts and of the console, and requests to other hosts. A test expects it empty. */
  readonly complaints: string[];
}

/** Opens a page that notes what goes wrong in it. */
export async function openPage(browser: Browser, url: string): Promise<WatchedPage> {
  const page = await browser.newPage();
  const complaints: string[] = [];
  const host = new URL(url).host;
  page.on("pageerror", (error) => complaints.push(`script: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const asked = new URL(request.url());
    if (/^(https?|wss?):$/.test(asked.protocol) && asked.host !== host)
      complaints.push(`asked ${request.url()}`);
  });
  await page.goto(url);
  return { page, complaints };
}

/**
 * Follows the requests that a page sends over its socket, from before it is opened. Returns a function that resolves once
 * each is answered and drawn; requests over HTTP are `networkidle`.
 */
export function followCalls(page: Page): () => Promise<void> {
  const pending = new Set<number>();
  const answers = new EventEmitter();
  page.on("websocket", (socket) => {
    pending.clear();
    socket.on("framesent", ({ payload }) => {
      const { t, id } = JSON.parse(String(payload)) as { t: string; id?: number };
      if (id !== undefined && (t === "call" || t === "search")) pending.add(id);
      else if (id !== undefined && t === "call.cancel") pending.delete(id);
    });
    const answered = (ids: Iterable<number>): void => {
      for (const id of ids) pending.delete(id);
      answers.emit("answer");
    };
    socket.on("framereceived", ({ payload }) => {
      const { t, id } = JSON.parse(String(payload).split("\n", 1)[0]!) as { t: string; id?: number };
      if (id !== undefined && t === "answer") answered([id]);
    });
    socket.on("close", () => answered([...pending]));
  });
  return async () => {
    do {
      while (pending.size > 0) await once(answers, "answer");
      await page.evaluate(TWO_FRAMES);
    } while (pending.size > 0);
  };
}

/** An expression in the page that resolves when what was changed before it is drawn. */
const TWO_FRAMES =
  "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(undefined))))";
