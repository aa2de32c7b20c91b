/** Starts the dashboard. */

import "./app.ts";
import { startTheme } from "./theme.ts";

startTheme();
document.querySelector(".boot")?.replaceWith(document.createElement("tr-app"));
