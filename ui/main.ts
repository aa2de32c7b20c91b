/**
 * Starts the dashboard. It runs before the first paint, so that the default theme doesn't flash before the chosen one,
 * and sends the first search at once. The language is loaded before the shell, because texts are created when their
 * modules are loaded.
 */

import { startLanguage } from "#ui/services/browser/language.ts";
import { watchEdits } from "#ui/services/browser/sign-in.ts";
import { startTheme } from "#ui/services/browser/theme.ts";
import { firstAnswers, startFirstSearch } from "#ui/services/discover/first-search.ts";
import { hubFetch } from "#ui/services/hub/hub-connection.ts";

startTheme();
startFirstSearch(location.hash, Date.now(), (...call) => fetch(...call), hubFetch);
watchEdits();
void startShell();

/** Not awaited: the shell's file imports this one, which must be finished by then. */
async function startShell(): Promise<void> {
  await startLanguage();
  await import("./app.ts");
  await firstAnswers();
  document.querySelector(".boot")?.replaceWith(document.createElement("tr-app"));
}
