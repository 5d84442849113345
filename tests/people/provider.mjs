// A real provider of OpenID Connect for tests: npm's oidc-provider with its own pages to sign in. Whoever signs in as `NAME` has the
// address NAME@example.com; `boss` is a lead, `guest` is in no group, everyone else is a designer.
//
//   node provider.mjs PORT REDIRECT_URL
import { Provider } from "oidc-provider";

const [port, redirect] = process.argv.slice(2);
const GROUPS = { boss: ["leads"], guest: [] };

const provider = new Provider(`http://localhost:${port}`, {
  clients: [{ client_id: "atelier", client_secret: "a-secret-of-thirty-two-characters", redirect_uris: [redirect] }],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
  pkce: { required: () => true },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({
      sub: id,
      email: `${id}@example.com`,
      email_verified: true,
      name: id,
      groups: GROUPS[id] || ["designers"],
    }),
  }),
  cookies: { keys: ["a-key-for-tests"] },
});
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
