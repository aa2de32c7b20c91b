/** Starts the dashboard: the language first, as texts are made when their modules are loaded. */

import { startLanguage } from "./services/language.ts";
import { watchEdits } from "./services/sign-in.ts";
import { startTheme } from "./theme.ts";

startTheme();
watchEdits();
await startLanguage();
await import("./app.ts");
document.querySelector(".boot")?.replaceWith(document.createElement("tr-app"));
