import { screenAct } from 'mfe-kit';
import { type createBrowserRouter, NavigationType } from 'react-router';

type Router = ReturnType<typeof createBrowserRouter>;

/**
 * Tells which screens are opened: as soon as the address changes, because what a screen reads may begin before it is
 * drawn. A change of a list's state in the address opens none. Returns how to stop.
 */
export function followScreens(router: Router): () => void {
  let shown: string | undefined;
  const follow = ({ location, matches, historyAction }: Router['state']) => {
    if (location.pathname === shown) return;
    shown = location.pathname;
    screenAct.open(matches.at(-1)?.route.path ?? '*', historyAction === NavigationType.Replace);
  };
  follow(router.state);
  return router.subscribe(follow);
}
