// The library as the console uses it.

/** What a template draws. */
export interface Drawn {
  type: unknown;
  props: Record<string, unknown>;
}
export function html(texts: TemplateStringsArray, ...holes: Hole[]): Drawn;
export function render(drawn: Drawn, into: Element): void;

type Change<S> = S | ((old: S) => S);
export function useState<S>(first: S | (() => S)): [S, (next: Change<S>) => void];
export function useReducer<S, A>(next: (old: S, action: A) => S, first: S): [S, (action: A) => void];
export function useEffect(effect: () => unknown, when?: readonly unknown[]): void;
export function useMemo<T>(make: () => T, when: readonly unknown[]): T;
export function useCallback<F extends (...given: never[]) => unknown>(call: F, when: readonly unknown[]): F;
/** What is kept without drawing anew. What begins as nothing says what it becomes. */
export function useRef<T>(first: null): Ref<T>;
export function useRef<T>(first: T): Ref<T>;

export interface Context<T> {
  Provider: (props: { value: T; children?: unknown }) => Drawn;
}
export function createContext<T>(usual: T): Context<T>;
export function useContext<T>(context: Context<T>): T;
