// The console: who is signed in, and the page that the address names.
import { html, render, useEffect, useState } from "./lib.js";
import { endVisit, get, onSignedOut, session, signIn, signOut } from "./api.js";
import { followLinks, go, useRoute } from "./route.js";
import { Shell } from "./parts/shell.js";
import { wear } from "./parts/menu.js";
import { SignIn } from "./pages/sign_in.js";
import { Create } from "./pages/create.js";
import { catalogue } from "./catalogue.js";
import { listen, onJobs } from "./events.js";
import { later } from "./parts/later.js";
import { NotFound } from "./parts/not_found.js";

/** Every page but the first is read when it is first opened, or when somebody is about to. */
const Library = later(() => import("./pages/library.js").then((page) => page.Library));
const JobPage = later(() => import("./pages/job.js").then((page) => page.JobPage));
const Account = later(() => import("./pages/account.js").then((page) => page.Account));
/** @type {Record<string, ReturnType<typeof later>>} */
const LATER = { library: Library, job: JobPage, account: Account };

/** Whoever points at a link, or comes to it by keyboard, is about to follow it. @param {Event} event */
function aboutToGo(event) {
  const link = /** @type {Element} */ (event.target).closest?.("a[href^='/console/']");
  const [name] = link ? /** @type {HTMLAnchorElement} */ (link).pathname.slice("/console/".length).split("/") : [];
  LATER[name]?.ready().catch(() => {});
}

/** @type {Record<string, (given: any) => unknown>} */
const PAGES = { create: Create, library: Library, job: JobPage, account: Account };
/** @type {Record<string, () => Promise<(given: any) => unknown>>} */
const OPERATOR_PAGES = {
  overview: () => import("./pages/operator/overview.js").then((page) => page.Overview),
  jobs: () => import("./pages/operator/lists.js").then((page) => page.Jobs),
  accounts: () => import("./pages/operator/accounts.js").then((page) => page.Accounts),
  words: () => import("./pages/operator/words.js").then((page) => page.BannedWords),
  backends: () => import("./pages/operator/backends.js").then((page) => page.Backends),
  models: () => import("./pages/operator/models.js").then((page) => page.Models),
  rehearsal: () => import("./pages/operator/rehearsal.js").then((page) => page.Rehearsal),
  groups: () => import("./pages/operator/groups.js").then((page) => page.Groups),
  plans: () => import("./pages/operator/plans.js").then((page) => page.Plans),
  products: () => import("./pages/operator/products.js").then((page) => page.Products),
  payments: () => import("./pages/operator/payments.js").then((page) => page.Payments),
  vouchers: () => import("./pages/operator/vouchers.js").then((page) => page.Vouchers),
  prices: () => import("./pages/operator/prices.js").then((page) => page.Prices),
  callbacks: () => import("./pages/operator/lists.js").then((page) => page.Callbacks),
  operators: () => import("./pages/operator/operators.js").then((page) => page.Operators),
  audit: () => import("./pages/operator/lists.js").then((page) => page.Audit),
};

/**
 * Pages of one thing out of a list; the address names it behind the list.
 * @type {Record<string, () => Promise<(given: any) => unknown>>}
 */
const SINGLE_PAGES = {
  accounts: () => import("./pages/operator/account_page.js").then((page) => page.AccountPage),
  backends: () => import("./pages/operator/backend_page.js").then((page) => page.BackendPage),
};

/** @param {{ who: Who, route: Route, enter: (who: Who) => void }} given */
function OperatorPages({ who, route, enter }) {
  const list = route.rest[0] || "overview";
  const one = route.rest[1] !== undefined;
  const name = one ? `${list}/` : list;
  const [page, setPage] = useState(/** @type {{ name: string, View: unknown }} */ ({ name: "", View: null }));
  const read = (one ? SINGLE_PAGES : OPERATOR_PAGES)[list];
  useEffect(() => {
    if (read) read().then((View) => setPage({ name, View }));
  }, [name]);
  if (!read) return html`<${NotFound} who=${who} />`;
  return page.name === name && page.View ? html`<${page.View} who=${who} route=${route} enter=${enter} />` : null;
}

/** Who comes in. A link signs in with what stands behind its mark, which is taken out of the address at once. */
function entered() {
  const word = location.hash.slice(1);
  const linked = word.startsWith("se_");
  if (linked) history.replaceState(null, "", location.pathname);
  return (linked ? signIn(word).catch(() => session()) : session()).catch(() => null);
}

/** @param {{ first: Who | null }} given */
function App({ first }) {
  const [who, setWho] = useState(first);
  const route = useRoute();
  useEffect(() => {
    const enter = () => {
      entered().then(setWho);
    };
    addEventListener("hashchange", enter);
    onSignedOut(() => setWho(null));
    document.addEventListener("click", followLinks);
    for (const sign of ["pointerover", "focusin"]) document.addEventListener(sign, aboutToGo, { passive: true });
    return () => {
      removeEventListener("hashchange", enter);
      document.removeEventListener("click", followLinks);
      for (const sign of ["pointerover", "focusin"]) document.removeEventListener(sign, aboutToGo);
    };
  }, []);
  const refresh = () =>
    get("/artgen/v1/info").then(
      ({ data }) => setWho((old) => (old ? { ...old, account: { ...old.account, ...data } } : old)),
      () => {},
    );
  useEffect(() => {
    if (!who?.account) return undefined;
    let soon = 0;
    // What jobs cost is told by their changes; several at once are one question.
    const ask = () => {
      clearTimeout(soon);
      soon = window.setTimeout(refresh, 250);
    };
    const leave = onJobs(ask);
    listen(true);
    return () => {
      clearTimeout(soon);
      leave();
      listen(false);
    };
  }, [who?.account?.email]);
  if (!who) return html`<${SignIn} entered=${setWho} />`;
  // Whoever looks at an account with its own eyes sees what it sees, and has to stop looking before anything can be
  // changed.
  const runs = who.operator && !who.looking;
  const lost = !PAGES[route.page] && !(runs && route.page === "operator");
  const home = runs && !who.account && route.page !== "job" && !lost;
  const there = home && route.page !== "operator" ? { ...route, page: "operator", rest: ["overview"] } : route;
  const own = who.looking && route.page === "create" ? Library : PAGES[route.page];
  const Page = lost ? NotFound : there.page === "operator" ? OperatorPages : own;
  const leave = (/** @type {boolean} */ everywhere) =>
    signOut(everywhere).finally(() => {
      setWho(null);
      go("create", {}, { replace: true });
    });
  const back = () =>
    endVisit().then(
      (now) => {
        setWho(now);
        go("operator/accounts");
      },
      () => {},
    );
  return html`<${Shell} who=${who} route=${there} leave=${leave} back=${back}>
    <${Page} who=${who} route=${there} refresh=${refresh} enter=${setWho} /><//>`;
}

// What the first page needs is asked for at once and together, so that it is drawn once and whole.
const made = catalogue().catch(() => null);
wear();
entered().then(async (first) => {
  if (first?.account) await made;
  render(html`<${App} first=${first} />`, /** @type {Element} */ (document.getElementById("app")));
});
