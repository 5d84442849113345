// The console: who is signed in, and the page that the address names.
import { html, render, useEffect, useState } from "./lib.js";
import { get, onSignedOut, session, signIn, signOut } from "./api.js";
import { followLinks, go, useRoute } from "./route.js";
import { Shell } from "./parts/shell.js";
import { SignIn } from "./pages/sign_in.js";
import { Create } from "./pages/create.js";
import { Library } from "./pages/library.js";
import { JobPage } from "./pages/job.js";
import { Account } from "./pages/account.js";
import { Overview } from "./pages/operator/overview.js";
import { Accounts } from "./pages/operator/accounts.js";
import { Backends } from "./pages/operator/backends.js";
import { Prices } from "./pages/operator/prices.js";
import { Audit, Callbacks, Jobs } from "./pages/operator/lists.js";

const PAGES = { create: Create, library: Library, job: JobPage, account: Account };
const OFFICE = { overview: Overview, jobs: Jobs, accounts: Accounts, backends: Backends, prices: Prices, callbacks: Callbacks, audit: Audit };

function App() {
  const [who, setWho] = useState(undefined);
  const route = useRoute();
  useEffect(() => {
    // A link signs in with what stands behind its mark, which is taken out of the address at once.
    const enter = () => {
      const word = location.hash.slice(1);
      const linked = word.startsWith("se_");
      if (linked) history.replaceState(null, "", location.pathname);
      (linked ? signIn(word).catch(() => session()) : session()).then(setWho, () => setWho(null));
    };
    enter();
    addEventListener("hashchange", enter);
    onSignedOut(() => setWho(null));
    document.addEventListener("click", followLinks);
    return () => {
      removeEventListener("hashchange", enter);
      document.removeEventListener("click", followLinks);
    };
  }, []);
  const refresh = () => get("/artgen/v1/info").then(({ data }) => setWho((old) => (old ? { ...old, account: { ...old.account, ...data } } : old)), () => {});
  useEffect(() => {
    if (!who?.account) return undefined;
    const timer = setInterval(refresh, 5000);
    return () => clearInterval(timer);
  }, [Boolean(who?.account)]);
  if (who === undefined) return null;
  if (!who) return html`<${SignIn} entered=${setWho} />`;
  const office = who.operator && (route.page === "operator" || !who.account);
  const Page = office ? OFFICE[route.rest[0]] || Overview : PAGES[route.page] || Create;
  const leave = () => signOut().finally(() => { setWho(null); go("create", {}, { replace: true }); });
  return html`<${Shell} who=${who} route=${office && route.page !== "operator" ? { ...route, page: "operator", rest: ["overview"] } : route} leave=${leave}>
    <${Page} who=${who} route=${route} refresh=${refresh} /><//>`;
}

render(html`<${App} />`, document.getElementById("app"));
