import { useSyncExternalStore } from 'react';
import { type Theme, theme } from './theme';

/** The theme in force, redrawn when it changes. */
export function useTheme(): Theme {
  return useSyncExternalStore(theme.subscribe, () => theme.current);
}
