import { screenAct } from 'mfe-kit';
import { useEffect } from 'react';
import { useLocation } from 'react-router';

/** Says that a screen is drawn, or the failure in its place, for the traces of the deployment. */
export function useScreenDrawn(failure?: unknown): void {
  const { pathname } = useLocation();
  useEffect(() => screenAct.drawn(failure !== undefined), [pathname, failure]);
}
