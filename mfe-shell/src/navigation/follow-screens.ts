import { screenAct } from 'mfe-kit';
import { type createBrowserRouter, NavigationType } from 'react-router';

type Router = ReturnType<typeof createBrowserRouter>;

/**
 * Tells which screens are opened: as soon as the address changes, because what a screen reads may begin before it is
 * drawn. A change of a list's state in the address opens none. Returns how to stop.
 */
export function followScreens(router: Router): () => void {
  const open = ({ matches, historyAction }: Router['state']) =>
    screenAct.open(matches.at(-1)?.route.path ?? '*', historyAction === NavigationType.Replace);
  open(router.state);
  return onAddress(router, open);
}

/**
 * Forgets the calls that were started for a screen which is left before its code made them: for the next one, their
 * answers may be old. Returns how to stop.
 */
export function forgetReadsOfLeft(router: Router): () => void {
  return onAddress(router, ({ historyAction }) => {
    // A redirect leads to the screen that they were started for.
    if (historyAction !== NavigationType.Replace) window.__READS__?.started.clear();
  });
}

function onAddress(router: Router, follow: (state: Router['state']) => void) {
  let shown = router.state.location.pathname;
  return router.subscribe((state) => {
    if (state.location.pathname === shown) return;
    shown = state.location.pathname;
    follow(state);
  });
}
