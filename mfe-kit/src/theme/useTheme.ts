import { useSyncExternalStore } from 'react';
import { type Theme, theme } from './theme';

const current = () => theme.current;

/** The current theme; redraws on change. */
export function useTheme(): Theme {
  return useSyncExternalStore(theme.subscribe, current, current);
}
