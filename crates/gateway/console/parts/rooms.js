// The rooms of the console: a line each.
export const ROOMS = [
  { page: "create", icon: "plus" },
  { page: "library", icon: "grid" },
  { page: "account", icon: "person" },
];
export const OPERATOR_PAGES = [
  { page: "overview", icon: "bars" },
  { page: "jobs", icon: "list" },
  { page: "accounts", icon: "people" },
  { page: "backends", icon: "stack" },
  { page: "models", icon: "cube" },
  { page: "rehearsal", icon: "copy" },
  { page: "prices", icon: "tag" },
  { page: "groups", icon: "layers" },
  { page: "plans", icon: "again" },
  { page: "products", icon: "basket" },
  { page: "payments", icon: "coin" },
  { page: "vouchers", icon: "ticket" },
  { page: "words", icon: "ban" },
  { page: "callbacks", icon: "bell" },
  { page: "operators", icon: "key" },
  { page: "audit", icon: "shield" },
];
