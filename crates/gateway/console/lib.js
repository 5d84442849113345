// The one place that names the library, so that changing it is a change of one line.
export {
  html,
  render,
  useState,
  useEffect,
  useRef,
  useMemo,
  useCallback,
  useReducer,
  createContext,
  useContext,
} from "./vendor/preact-htm.js";
