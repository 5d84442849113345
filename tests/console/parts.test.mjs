// Parts of the console by themselves, in a page that is only imagined: what a form holds, how a dialog is left, which
// picture is shown large, what a list makes of its answers. Each is a promise that was broken once.
//
//   CONSOLE=FOLDER node --test parts.test.mjs
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { pathToFileURL } from "node:url";
import { GlobalRegistrator } from "@happy-dom/global-registrator";

GlobalRegistrator.register({ url: "http://localhost/console/create", width: 1360, height: 860 });
/** A file of the console; it looks at the page when it is read, so that the page has to be there first. */
const of = (name) => import(pathToFileURL(`${process.env.CONSOLE}/${name}`).href);

const { html, render, useState } = await of("lib.js");
const { Dialog } = await of("parts/dialog.js");
const { Form, Prompt } = await of("parts/form.js");
const { Lightbox } = await of("parts/lightbox.js");
const { Ask } = await of("parts/ask.js");
const { Paged, usePages } = await of("parts/table.js");
const { choices } = await of("parts/media.js");
const { draftOf, dropDraft, keepDraft } = await of("draft.js");
const { daysOf, rangeOf } = await of("parts/date_range.js");

let root;
beforeEach(() => {
  root = document.createElement("div");
  document.body.append(root);
});
afterEach(() => {
  render(null, root);
  root.remove();
  dropDraft();
});

/** Until effects and answers have come to an end. */
const settled = async () => {
  for (let round = 0; round < 5; round += 1)
    await new Promise((wake) => {
      setTimeout(wake, 5);
    });
};
const draw = async (view) => {
  render(view, root);
  await settled();
};
const type = (field, text) => {
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
};

const field = (name, more = {}) => ({
  name,
  required: false,
  schema: {},
  items: null,
  type: "string",
  widget: null,
  default: undefined,
  options: null,
  description: "",
  ...more,
});
const OPERATION = {
  name: "test.make",
  family: "Test",
  fields: [
    field("prompt", { widget: "prompt", required: true, schema: { maxLength: 500 } }),
    field("image", { widget: "image", schema: { format: "uri" } }),
    field("style", { options: ["plain", "fine"] }),
  ],
};

/** A form with values of its own, as a page has it. */
function Page({ seen }) {
  const [values, setValues] = useState({});
  seen.values = values;
  const given = { operation: OPERATION, values, change: setValues, submit() {}, prices: {}, problem: null };
  return html`<${Prompt} ...${given} /><${Form} ...${given} />`;
}

test("what is typed while a picture is on its way is kept, and so is the picture", async () => {
  const seen = {};
  let arrive = (_) => {};
  globalThis.fetch = () =>
    new Promise((done) => {
      arrive = () => done(Response.json({ status: "SUCCESS", data: { url: "http://localhost/assets/in.png" } }));
    });
  await draw(html`<${Page} seen=${seen} />`);
  const input = root.querySelector("input[type=file]");
  const file = new File(["a picture"], "a.png", { type: "image/png" });
  Object.defineProperty(input, "files", { value: [file] });
  input.dispatchEvent(new Event("change", { bubbles: true }));
  await settled();
  assert.ok(root.querySelector(".chosen.coming"), "a picture on its way has its place");
  type(root.querySelector("textarea"), "a heron at dusk");
  arrive();
  await settled();
  assert.deepEqual(seen.values, { prompt: "a heron at dusk", image: "http://localhost/assets/in.png" });
});

test("a choice changes its own field alone, and an emptied field has no value", async () => {
  const seen = {};
  await draw(html`<${Page} seen=${seen} />`);
  type(root.querySelector("textarea"), "a heron");
  await settled();
  root.querySelectorAll("input[type=radio]")[1].dispatchEvent(new Event("change", { bubbles: true }));
  await settled();
  assert.deepEqual(seen.values, { prompt: "a heron", style: "fine" });
  type(root.querySelector("textarea"), "");
  await settled();
  assert.equal(seen.values.prompt, undefined);
});

test("a draft belongs to whoever began it", () => {
  keepDraft("a@example.com", "test.make", { prompt: "a heron" });
  assert.deepEqual(draftOf("a@example.com")?.values, { prompt: "a heron" });
  assert.equal(draftOf("b@example.com"), null);
  dropDraft();
  assert.equal(draftOf("a@example.com"), null);
});

const BOX = { left: 100, top: 100, right: 500, bottom: 400, width: 400, height: 300, x: 100, y: 100 };
/** A press and the click that ends it, each at a place of the window. */
function press(dialog, [from, to], target = dialog) {
  const at = ([clientX, clientY]) => ({ bubbles: true, clientX, clientY });
  target.dispatchEvent(new PointerEvent("pointerdown", at(from)));
  dialog.dispatchEvent(new MouseEvent("click", at(to)));
}

test("a dialog is left by a press that begins beside it, and by no other", async () => {
  let closed = 0;
  const close = () => {
    closed += 1;
  };
  await draw(html`<${Dialog} close=${close} label="a dialog"><input id="inside" /><//>`);
  const dialog = root.querySelector("dialog");
  dialog.getBoundingClientRect = () => BOX;
  const [edge, beside] = [
    [104, 398],
    [10, 10],
  ];
  press(dialog, [edge, edge]);
  assert.equal(closed, 0, "its own padding is no way out");
  press(dialog, [[200, 200], beside], root.querySelector("#inside"));
  assert.equal(closed, 0, "what is selected beyond its edge is no way out");
  press(dialog, [beside, beside]);
  assert.equal(closed, 1);
  dialog.dispatchEvent(new Event("cancel", { cancelable: true }));
  assert.equal(closed, 2, "Escape is");
});

test("a form in a dialog keeps what was refused, and says when a field is emptied", async () => {
  const given = [];
  const act = (filled) => {
    given.push(filled);
    return given.length === 1 ? Promise.reject(new Error("not today")) : Promise.resolve();
  };
  const fields = [
    { name: "name", label: "Name", value: "old" },
    { name: "notes", label: "Notes", type: "long", value: "some", clears: " " },
  ];
  let closed = 0;
  const close = () => {
    closed += 1;
  };
  await draw(html`<${Ask} title="Ask" fields=${fields} action="Save" act=${act} close=${close} />`);
  const form = root.querySelector("form");
  root.querySelector("#ask-name").value = "new";
  root.querySelector("#ask-notes").value = "";
  form.dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
  await settled();
  assert.equal(root.querySelector(".problem").textContent.trim(), "not today");
  assert.equal(root.querySelector("#ask-name").value, "new", "what was typed is still there");
  assert.equal(closed, 0);
  form.dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
  await settled();
  assert.equal(closed, 1);
  assert.deepEqual(given[1], { name: "new", notes: " " });
});

const JOB = { operation: "test.make", request: { prompt: "a heron" }, status: "SUCCESS", files: [] };
const piece = (name) => ({
  key: name,
  job: { ...JOB, jobId: name, request: { prompt: name } },
  file: { url: `http://localhost/assets/${name}.png?e=1`, type: "image/png", width: 1024, height: 1024, bytes: 9 },
  quarter: 0,
  place: 0,
});

/** What the lightbox shows of a list that its page may change. */
function Wall({ items, first, seen }) {
  const [at, setAt] = useState(first);
  seen.at = at;
  seen.closed ||= 0;
  const close = () => {
    seen.closed += 1;
  };
  return html`<${Lightbox} items=${items} at=${at} move=${setAt} close=${close} all=${null} hands=${null} />`;
}

test("the picture that is shown large stays while others come before it", async () => {
  const seen = {};
  const [a, b] = [piece("a"), piece("b")];
  await draw(html`<${Wall} items=${[a, b]} first="b" seen=${seen} />`);
  const shown = () => root.querySelector(".stage img").getAttribute("src");
  assert.equal(shown(), b.file.url);
  await draw(html`<${Wall} items=${[piece("new"), a, b]} first="b" seen=${seen} />`);
  assert.equal(shown(), b.file.url);
  assert.match(root.querySelector(".counter").textContent, /3 \/ 3/);
  dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
  await settled();
  assert.equal(shown(), a.file.url, "arrows go by what is there now");
  await draw(html`<${Wall} items=${[b]} first="b" seen=${seen} />`);
  assert.equal(seen.closed, 1, "what is gone is not shown");
});

function Rows({ path }) {
  const pages = usePages(path, 2);
  const columns = [{ title: "Name", show: (row) => row.id }];
  return html`<${Paged} pages=${pages} caption="Rows" columns=${columns} />`;
}

test("a list goes on behind its rows, and an answer to an earlier question is not looked at", async () => {
  const waiting = {};
  globalThis.fetch = (path) =>
    new Promise((done) => {
      waiting[path] = (ids, total) =>
        done(Response.json({ status: "SUCCESS", data: ids.map((id) => ({ id })), total, page: 1, limit: 2 }));
    });
  const shown = () => [...root.querySelectorAll("tbody tr")].map((row) => row.textContent.trim());
  await draw(html`<${Rows} path="/rows?kind=slow" />`);
  await draw(html`<${Rows} path="/rows?kind=quick" />`);
  waiting["/rows?kind=quick&limit=2&page=1"](["q1", "q2"], 3);
  await settled();
  waiting["/rows?kind=slow&limit=2&page=1"](["s1"], 1);
  await settled();
  assert.deepEqual(shown(), ["q1", "q2"]);
  root.querySelector(".foot button").click();
  await settled();
  waiting["/rows?kind=quick&limit=2&page=2"](["q3"], 3);
  await settled();
  assert.deepEqual(shown(), ["q1", "q2", "q3"]);
  assert.equal(root.querySelector(".foot"), null, "nothing is behind the last row");
});

test("a list that is refused says why and has no rows", async () => {
  globalThis.fetch = () => Promise.resolve(Response.json({ code: "forbidden", message: "not yours" }, { status: 403 }));
  await draw(html`<${Rows} path="/rows?kind=refused" />`);
  assert.match(root.querySelector(".problem").textContent, /not yours/);
});

test("the file itself is read only where it has more to show than the pictures made of it", () => {
  const url = "http://localhost/assets/a.png?e=1&k=1&s=x";
  const widths = (width, height) => choices({ url, width, height }).match(/\d+w/g);
  assert.deepEqual(widths(1024, 1024), ["384w", "1024w"]);
  assert.deepEqual(widths(2048, 1024), ["384w", "1280w", "2048w"]);
  assert.deepEqual(widths(1024, 2048), ["192w", "640w", "1024w"]);
  assert.match(choices({ url, width: 1024, height: 1024 }), /thumbs\/a\.png\?e=1&k=1&s=x&size=medium 1024w/);
});

test("a span of days is what its address says", () => {
  assert.equal(rangeOf({}, 0).asked, "");
  const own = rangeOf({ from: "2026-01-01", to: "2026-01-31" });
  assert.equal(own.asked, "&from=2026-01-01&to=2026-02-01");
  assert.equal(daysOf(own).length, 31);
  assert.equal(rangeOf({ days: "7" }).days, 7);
  assert.equal(rangeOf({ days: "8" }).days, 30, "only what is offered");
  assert.equal(rangeOf({ from: "<img>" }).days, 30);
});
