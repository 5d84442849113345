// The rooms of the console: a line each.
export const ROOMS = [
  { page: "create", icon: "plus", who: "account" },
  { page: "library", icon: "grid", who: "account" },
  { page: "account", icon: "person", who: "account" },
];
export const OFFICE = [
  { page: "overview", icon: "bars" },
  { page: "jobs", icon: "list" },
  { page: "accounts", icon: "people" },
  { page: "backends", icon: "stack" },
  { page: "prices", icon: "tag" },
  { page: "callbacks", icon: "bell" },
  { page: "audit", icon: "shield" },
];
