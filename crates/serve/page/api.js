// The server, asked.

import { h } from "./page.js";

let token = sessionStorage.getItem("token");
const given = /[#&]token=([^&]+)/.exec(location.hash);
if (given) {
  token = decodeURIComponent(given[1]);
  sessionStorage.setItem("token", token);
  history.replaceState(null, "", location.pathname);
}

/** Asks; fails with the server's own words. */
export async function ask(path, body, { accept = "application/json", kind = "application/json", signal } = {}) {
  const headers = { Accept: accept };
  if (token) headers.Authorization = `Bearer ${token}`;
  const request = { headers, signal };
  if (body !== undefined) {
    request.method = "POST";
    headers["Content-Type"] = kind;
    request.body = typeof body === "string" ? body : JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, request);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the server does not answer; is `consonant serve` still running?");
  }
  if (response.status === 401 && (await askToken())) return ask(path, body, { accept, kind, signal });
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    throw Object.assign(new Error(problem.detail ?? `the server says ${response.status}`), { status: response.status });
  }
  return accept === "application/json" ? response.json() : response.text();
}

/** Asks a person for the token, in a dialogue. */
function askToken() {
  return new Promise((resolve) => {
    const field = h("input", { type: "password", "aria-label": "token", autocomplete: "off" });
    const dialog = h("dialog.card",
      h("form", { method: "dialog", onsubmit: () => { token = field.value; sessionStorage.setItem("token", token); resolve(true); } },
        h("p", "This server wants its token."), field, " ", h("button.main", "Go on")));
    dialog.addEventListener("cancel", () => resolve(false));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  });
}
