// The page's back end: the server that sent the page. A published site has another module of this name.

import { refusal } from "./ask.js";

export const GAME_PAGE = "./";

export const pictureOf = (variant) => `api/picture?${new URLSearchParams({ variant })}`;

export const downloadOf = (variant) => `api/download?${new URLSearchParams({ variant })}`;

// Return the server's answer. The *token* of our page goes with requests that change something.
export async function request(path, parameters, token) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value != null));
  const options = token && { method: "POST", headers: { "x-retrograde": token } };
  const response = await fetch(`api/${path}?${query}`, options).catch(() => {
    throw new Error("The server does not answer. Is “retrograde serve” still running?");
  });
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  if (response.ok) return isJson ? response.json() : response.text();
  const { error } = await response.json().catch(() => ({}));
  throw refusal(error ?? response.statusText, response.status);
}
