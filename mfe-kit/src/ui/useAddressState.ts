import { use, useLayoutEffect, useMemo, useRef } from 'react';
import { UNSAFE_DataRouterContext, useSearchParams } from 'react-router';

/** Milliseconds before a change that the browser has refused is made again. */
const AGAIN_AFTER_MS = 1000;

/**
 * The state of a list, which is in the address, and a function that changes it: a change is to the state that was last
 * asked for, however late the router draws that. A parameter that `write` sets to '' is removed, and all that it does
 * not set or delete stay. `read` and `write` are the same functions each time.
 */
export function useAddressState<State>(
  read: (address: URLSearchParams) => State,
  write: (address: URLSearchParams, state: State) => void,
): [state: State, change: (changes: (asked: State) => Partial<State>) => void] {
  const [params] = useSearchParams();
  // The shell draws slices with `renderMatches`, where `useNavigate` does not say whether the address was changed.
  const router = use(UNSAFE_DataRouterContext)?.router;
  // The address that is drawn, and those that were asked for since, the latest last.
  const asked = useRef([String(params)]);
  const again = useRef<ReturnType<typeof setTimeout>>(undefined);

  useLayoutEffect(() => {
    const drawn = String(params);
    const index = asked.current.lastIndexOf(drawn);
    // An address that was not asked for here, such as that of Back, takes the place of what was.
    asked.current = index < 0 ? [drawn] : asked.current.slice(index);
  }, [params]);

  async function ask() {
    const { pathname } = window.location;
    try {
      await router?.navigate(`?${asked.current.at(-1)}`, { replace: true, preventScrollReset: true });
    } catch {
      // Some browsers refuse more than 100 changes in 10 or 30 s, such as while a key is held down.
      clearTimeout(again.current);
      again.current = setTimeout(() => {
        // Another screen may have been opened since.
        if (window.location.pathname === pathname) void ask();
      }, AGAIN_AFTER_MS);
    }
  }

  function change(changes: (asked: State) => Partial<State>) {
    const before = new URLSearchParams(asked.current.at(-1));
    const after = new URLSearchParams(before);
    const state = read(before);
    write(after, { ...state, ...changes(state) });
    for (const [name, value] of [...after]) if (value === '' && before.get(name) !== '') after.delete(name);
    asked.current.push(String(after));
    void ask();
  }

  return [useMemo(() => read(params), [read, params]), change];
}
