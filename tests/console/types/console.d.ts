// What the pages of the console hand each other. The service's own things are in `Wire`, which is written from its
// description.

/** JSON whose shape only its schema knows, or nobody. */
// biome-ignore lint/suspicious/noExplicitAny: any shape
type Json = any;

/** The path of an address without what is asked of it. */
type Bare<P extends string> = P extends `${infer A}?${string}` ? A : P;
/** Whether an address is one of a path with places in it. */
type Fits<P extends string, K extends string> = P extends `${infer A}/${infer R}`
  ? K extends `${infer B}/${infer S}`
    ? B extends `{${string}}`
      ? Fits<R, S>
      : A extends B
        ? Fits<R, S>
        : false
    : false
  : K extends `${string}/${string}`
    ? false
    : K extends `{${string}}`
      ? true
      : P extends K
        ? true
        : false;
type Known<M extends string, P extends string> = {
  [K in keyof Wire.Answers]: K extends `${M} ${infer Q}` ? (Fits<P, Q> extends true ? Wire.Answers[K] : never) : never;
}[keyof Wire.Answers];
/** What the service answers to a method at an address; one that is only known when it runs may answer anything. */
type Answer<M extends string, P extends string> = string extends P
  ? Json
  : `${M} ${Bare<P>}` extends keyof Wire.Answers
    ? Wire.Answers[`${M} ${Bare<P>}`]
    : [Known<M, Bare<P>>] extends [never]
      ? Json
      : Known<M, Bare<P>>;

/**
 * What stands in a template. What a function there is called with is said by the name of its attribute, which is
 * inside the text of the template, where types cannot see it.
 */
// biome-ignore lint/suspicious/noExplicitAny: said by the attribute
type Hole = string | number | boolean | null | undefined | object | readonly Hole[] | ((...given: any[]) => unknown);

/** Who is signed in. */
type Who = Wire.Session;
/** Who runs the service, as its pages know that somebody does. */
type Runs = Who & { operator: Wire.SignedInOperator };
/** Whose account it is, as the pages of an account know that there is one. */
type Owner = Who & { account: Wire.AccountRecord };
type Job = Wire.Job;
type JobFile = Wire.JobFile;
/** Where somebody is: the page, what stands behind it, and what is asked of it. */
interface Route {
  page: string;
  rest: string[];
  query: Record<string, string>;
}
/** The values of a form, by field. */
type Values = Record<string, Json>;

/** A part of a JSON Schema, with what the service says beside it. */
interface Schema {
  [said: `x-${string}`]: Json;
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string | string[];
  enum?: Json[];
  const?: Json;
  anyOf?: Schema[];
  allOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema;
  required?: string[];
  default?: Json;
  description?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}
/** An operation as the service's description has it. */
interface Described {
  "x-makes"?: Json;
  "x-place"?: number;
  /** Other methods that do the same. */
  also?: string[];
  operationId: string;
  path: string;
  method: string;
  summary: string;
  description?: string;
  tags: string[];
  deprecated?: boolean;
  parameters?: Parameter[];
  callbacks?: Record<string, Record<string, Record<string, Described>>>;
  requestBody?: { content?: Record<string, Content> };
  responses: Record<string, { description: string; content?: Record<string, Content> }>;
  security?: Record<string, string[]>[];
}
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}
interface Content {
  [said: `x-${string}`]: Json;
  schema: Schema;
  example?: Json;
  examples?: Record<string, Json>;
}
/** The service's description, or the part of it that the console reads first. */
interface Description {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
  tags: { name: string; description?: string }[];
  info?: Json;
}
/** A field as a form needs it. */
interface Field {
  name: string;
  required: boolean;
  schema: Schema;
  items: Schema | null;
  type: string;
  widget: string | null;
  default?: Json;
  options: Json[] | null;
  description: string;
  free?: boolean;
}
/** Something that can be made. */
interface Operation {
  name: string;
  path: string;
  summary: string;
  family: string;
  fields: Field[];
  example: Values;
  makes: string;
  follows: boolean;
}
/** Everything that can be made. */
interface All {
  operations: Operation[];
  families: string[];
}
/** A file of a job as it is shown: whole, or a quarter of a grid. */
interface Piece {
  key: string;
  job: Job;
  file: JobFile;
  quarter: number;
  place: number;
}
/** Something that can be done with a result. */
interface Deed {
  name: string;
  text: string;
  title?: string;
  operation?: string;
  request?: Values;
  /** The request with what is only made when it is asked for. */
  whole?: () => Promise<Values>;
  go: () => void;
}
interface Deeds {
  own: Deed[];
  edges: Deed[];
  whole: Deed[];
  onward: Deed[];
}
/** What a page does with results. */
interface Hands {
  follow: (name: string, request: Values) => void;
  prepare: (operation: Operation, request: Values) => void;
  use: (piece: Piece) => void;
  animate: (piece: Piece) => void;
  drop?: (job: Job) => Promise<void>;
  repaint?: (piece: Piece) => void;
  say?: (text: string) => void;
}
/** Why something was not done: a refusal of the service, or what the browser says. */
interface Refusal {
  message: string;
  status?: number;
  code?: string | null;
  field?: string | null;
}
/** What is there to say about the last deed. */
interface Told {
  text: string;
  bad?: boolean;
  job?: string;
}
/** A worker account of a back end, or the back end itself, with how it is. */
interface Part {
  name: string;
  health: Wire.Health | null;
  row?: Wire.Worker;
}
type Fault = Wire.Outcome & { name: string };
/** A route that leads to a back end, with the name of its model. */
interface Lead {
  name: string;
  route: Wire.ModelRoute;
}
/** Something to look at on an operator's first page. */
interface Trouble {
  text: string;
  to: string;
  query?: Record<string, string>;
}
/** What the page of a back end was told. */
interface Seen {
  row: Wire.Backend;
  stats: Wire.Stats;
  view: Wire.Overview;
  jobs: Wire.ServedJob[];
}
/** What an operator's first page was told. */
interface Looked {
  view: Wire.Overview;
  stats: Wire.Stats;
  nodes: Wire.NodeRow[];
  backends: Wire.Backend[];
}
/** A page that can be found by its words. */
interface Place {
  text: string;
  hint?: string;
  more?: string;
  go: () => void;
}
/** The key of a test, and whose it is. */
interface Kept {
  account: string;
  id: string;
  secret: string;
}
/** The price of a unit while it is being made up. */
interface UnitDraft {
  unit: string;
  amount?: number;
  factors?: Record<string, Record<string, number>>;
}
/** What an operation that was tried answered. */
interface Reply {
  good: boolean;
  status: number | string;
  ms: number;
  text: string;
}
/** Something that is there once it was drawn. */
interface Ref<T> {
  current: T;
}
/** A line that was painted. */
interface Stroke {
  points: number[][];
  size: number;
}
/** What is found in the documentation. */
interface Found {
  text: string;
  hint: string;
  href: string;
}
interface Guide {
  name: string;
  title: string;
}
/** A block of a guide. */
type Marked =
  | { kind: "code" | "text"; text: string }
  | { kind: "heading"; level: number; text: string }
  | { kind: "table"; head: string[]; rows: string[][] }
  | { kind: "list"; numbered: boolean; items: string[] };
/** A model that comes with a vendor, and what its inputs are filled with. */
interface Mapping {
  model: string;
  operations?: string[];
  input?: Values;
}
/** A call as it is copied. */
interface Call {
  origin: string;
  url: string;
  name: string;
  body: string;
}
/** A room of the console: its page and its picture. */
interface Room {
  page: string;
  icon: string;
}
/** What was begun in the form, and by whom. */
interface Draft {
  owner: string;
  op: string;
  values: Values;
}
/** A field of a small form in a dialog. */
interface AskField {
  name: string;
  label: string;
  type?: string;
  required?: boolean;
  value?: Json;
  options?: Json[];
  hint?: string;
  placeholder?: string;
  clears?: Json;
  prose?: boolean;
  rows?: number;
  names?: (one: Json) => string;
}
/** A question in a dialog, and what is done with its answer. */
interface Asking {
  title: string;
  text?: string;
  action: string;
  fields: AskField[];
  act: (given: Values) => unknown;
  danger?: boolean;
}
interface MenuItem {
  text: string;
  act: () => void;
  danger?: boolean;
  disabled?: boolean;
}
/** How well something is. */
interface State {
  condition: string;
  usable?: boolean;
}
/** A figure of a chart. */
interface Bar {
  name: string;
  value: number;
  text?: string;
}
/** A span of days, and how the service is asked for it. */
interface Span {
  days: number;
  from: string;
  to: string;
  asked: string;
}
/** Where a list goes on. */
interface Way {
  page: number;
  after: string;
  before: number;
}
interface Answered {
  data: unknown[];
  total?: number;
  next?: string | null;
}
/** The rows of a list that were read so far. */
interface Pages {
  rows: Json[] | null;
  total: number;
  problem: string;
  way: Way | null;
  again: () => void;
  more: () => void;
  hasMore: boolean;
}
/** Something that a model can be like. */
interface Like {
  name: string;
  model: string;
  family: string;
  makes: string;
  operations: Operation[];
}
/** What narrows a field of a model, as far as it says something. */
type Rule = Partial<Wire.FieldRule>;
/** A way to a back end, as far as it says something. */
type WayTo = Partial<Wire.ModelRoute> & { backend: string };
/** A model as its form holds it. */
interface ModelDraft {
  name: string;
  title: string;
  like: string;
  fields: Record<string, Rule>;
  aliases: string;
  routes: WayTo[];
  price?: Wire.ModelPrice;
  groups: string;
  enabled: boolean;
  retires: string;
  successor: string;
}
/** A rule of a group as its form holds it. */
interface RuleDraft {
  match: string;
  kind: "factor" | "amount";
  value: number | string;
  from: string;
}
/** A call as a curl command describes it, without its credential. */
interface Recorded {
  method: string;
  origin: string;
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  json?: Json;
  form?: Record<string, string>;
  multipart?: Record<string, Json>;
  sign: Values;
  key: string;
}
/** A place of a document with the value there. */
interface Leaf {
  at: string;
  value: Json;
}
/** A recording as the recorder holds it. */
interface Draft {
  to: string;
  call: string;
  operation: string;
  curl: string;
  answer: string;
  status: number;
  request: Recorded | null;
  body: Json;
  wishes: Record<string, string>;
  marks: Record<string, string>;
  meanings: Record<string, string>;
}
/** What the recorder is given by the form that it stands in. */
interface Recording {
  base: string;
  found: (seen: { base_url: string; credential: string }) => void;
  check: (settings: Json) => Promise<Wire.BackendCheck>;
}
/** A field made from a schema of settings. */
interface Setting {
  name: string;
  kind: string;
  whole: boolean;
  least?: number;
  most?: number;
  options?: Json[];
  about?: (string | undefined)[];
  text: string;
  default?: Json;
}
/** Favourites and folders, by name a list of jobs. */
interface Shelves {
  of: (name: string) => string[];
  names: string[];
  has: (name: string, id: string) => boolean;
  put: (name: string, ids: string[]) => void;
  take: (name: string, ids: string[]) => void;
  drop: (name: string) => void;
}
/** What a form of an operation is given. */
interface FormGiven {
  operation: Operation;
  values: Values;
  change: (edit: (old: Values) => Values) => void;
  submit: () => void;
  prices?: Record<string, Record<string, number>>;
  problem?: Refusal | null;
  between?: Hole;
  notes?: Record<string, string>;
  labels?: Record<string, Record<string, string>>;
}
/** A column of a table, and how it shows a row. */
interface Column<R> {
  title: string;
  number?: boolean;
  show: (row: R) => Hole;
}
/** What a part hears from an input, a key or a pointer. */
type On = Omit<KeyboardEvent & PointerEvent & DragEvent & ClipboardEvent & SubmitEvent, "target" | "currentTarget"> & {
  target: HTMLInputElement & HTMLFormElement;
  currentTarget: HTMLElement & SVGElement;
};
