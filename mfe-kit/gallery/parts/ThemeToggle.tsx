/** Switches between the light and the dark theme, and stores the choice. */
import { ThemeToggle } from 'mfe-kit/ui';

export function Switch() {
  return <ThemeToggle />;
}
