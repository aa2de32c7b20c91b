/** The commands of the palette: pages, themes, languages, saved objects, indices. */

import { msg } from "@lit/localize";
import type { Command } from "#ui/components/shell/command-palette.ts";
import { chooseLanguage, LANGUAGES, type Language } from "#ui/services/browser/language.ts";
import { formatRoute } from "#ui/services/browser/router.ts";
import { chooseDensity, chooseTheme, DENSITIES, THEMES } from "#ui/services/browser/theme.ts";
import { LOOK_TEXTS } from "#ui/services/browser/theme-labels.ts";
import { parametersOf, SavedClient, type SavedType } from "#ui/services/hub/saved-client.ts";
import { SearchClient } from "#ui/services/search/search-client.ts";
import type { Page } from "./page-list.ts";
import "#ui/components/shell/command-palette.ts";
import "#ui/components/shell/help-dialog.ts";

const SAVED: readonly (readonly [type: SavedType, kind: string])[] = [
  ["dashboard", msg("Dashboard")],
  ["visualisation", msg("Visualisation")],
  ["search", msg("Search")],
];

/** Returns what can be done at once. `pages`: those to go to, with their names; `help` opens the help. */
export function firstCommands(pages: readonly (readonly [string, Page])[], help: () => void): Command[] {
  return [
    ...pages.map(([name, { title }]) => goTo(title, msg("Page"), `#/${name}`)),
    ...THEMES.map((theme) => ({
      title: LOOK_TEXTS[theme]!,
      kind: msg("Theme"),
      run: () => chooseTheme(theme),
    })),
    ...DENSITIES.map((density) => ({
      title: LOOK_TEXTS[density]!,
      kind: msg("Density"),
      run: () => {
        chooseDensity(density);
        location.reload();
      },
    })),
    ...Object.entries(LANGUAGES).map(([language, title]) => ({
      title,
      kind: msg("Language"),
      run: () => chooseLanguage(language as Language),
    })),
    { title: msg("Keyboard shortcuts and query language"), kind: msg("Help"), run: help },
  ];
}

/** Requests further commands from the hub; those that can't be loaded are left out. */
export async function moreCommands(): Promise<Command[]> {
  const store = new SavedClient();
  const saved = SAVED.map(async ([type, kind]) =>
    (await store.list(type)).map((object) => {
      const parameters = new URLSearchParams(parametersOf(object));
      const page = type === "search" ? "discover" : type === "dashboard" ? "dashboards" : "visualise";
      if (type !== "search") parameters.set("id", object.id);
      return goTo(object.title, kind, formatRoute({ page, parameters }));
    }),
  );
  const indices = new SearchClient()
    .indexNames()
    .then((names) =>
      names.map((name) => goTo(name, msg("Index"), `#/indices?index=${encodeURIComponent(name)}`)),
    );
  const settled = await Promise.allSettled([...saved, indices]);
  return settled.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
}

function goTo(title: string, kind: string, address: string): Command {
  return {
    title,
    kind,
    run: () => {
      location.hash = address;
    },
  };
}
