import { useSyncExternalStore } from 'react';
import { type Theme, theme } from './theme';

/** The current theme; redraws on change. */
export function useTheme(): Theme {
  return useSyncExternalStore(theme.subscribe, () => theme.current);
}
