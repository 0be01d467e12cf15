"use strict";
// The page works without this script: it makes the check of a schema, the plan and the progress of
// a run live.

// replace puts a part of the page, as the server makes it, in place of another.
// It gives up what it asked for before: the server then stops working on that.
const asking = new WeakMap();
async function replace(into, url, options) {
  asking.get(into)?.abort();
  const own = new AbortController();
  asking.set(into, own);
  try {
    const answer = await fetch(url,
      { ...options, headers: { "X-Part": "yes" }, signal: own.signal });
    const text = await answer.text();
    if (into.dataset.text === text) return;
    const focused = into.contains(document.activeElement);
    into.innerHTML = text;
    into.dataset.text = text;
    if (focused) into.querySelector("button, a")?.focus();
  } catch {
    // The server is gone, or was asked again: what is shown stays.
  }
}

// later calls f when nothing has changed for a moment.
function later(f, milliseconds) {
  let timer;
  return () => { clearTimeout(timer); timer = setTimeout(f, milliseconds); };
}

for (const text of document.querySelectorAll("[data-check]")) {
  const into = document.getElementById(text.dataset.into);
  const check = () => replace(into, text.dataset.check,
    { method: "POST", body: new URLSearchParams({ text: text.value }) });
  text.addEventListener("input", later(check, 350));
  if (!into.firstElementChild) check();
}

// The cards of columns stay as they are while a person types: what is said of them changes.
for (const form of document.querySelectorAll("[data-cards]")) {
  let latest = 0;
  form.addEventListener("input", later(async () => {
    const own = ++latest;
    const fields = [...new FormData(form)].filter(([name]) => !name.endsWith(".ignore"));
    try {
      const answer = await fetch(form.dataset.cards, { method: "POST", headers: { "X-Part": "yes" },
        body: new URLSearchParams(fields) });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (own !== latest || !answer.ok) return;
      for (const now of form.querySelectorAll("[data-live]")) {
        const then = page.getElementById(now.id);
        if (then && now.innerHTML !== then.innerHTML) now.innerHTML = then.innerHTML;
      }
    } catch {
      // The server is gone: what is shown stays.
    }
  }, 350));
}

const figures = document.querySelector("[data-figures]");
const plan = document.getElementById("plan");
const slider = document.getElementById("slider");
if (plan && slider) {
  const number = document.getElementById(slider.dataset.number);
  const fromNumber = () => {
    const x = Number(number.value);
    if (x > 0) slider.value = Math.log10(x);
  };
  const redraw = later(() => {
    if (!figures || !plan.reportValidity()) return;
    replace(figures, figures.dataset.figures + "?" + new URLSearchParams(new FormData(plan)));
  }, 250);
  slider.addEventListener("input", () => {
    number.value = Number((10 ** Number(slider.value)).toPrecision(2));
    redraw();
  });
  plan.addEventListener("input", (event) => {
    if (event.target === number) fromNumber();
    if (event.target !== slider) redraw();
  });
  fromNumber();
}

const state = document.querySelector("[data-state]");
if (state && state.dataset.working === "true") {
  const poll = async () => {
    await replace(state, state.dataset.state);
    const now = state.querySelector("[data-working]");
    if (!now || now.dataset.working === "true") setTimeout(poll, 700);
  };
  setTimeout(poll, 700);
}
