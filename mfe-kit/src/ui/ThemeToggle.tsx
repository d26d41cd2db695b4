import Button from 'antd/es/button';
import { theme, useTheme } from 'mfe-kit';
import { Icon } from './Icon';

/** Switches between the light and the dark theme. */
export function ThemeToggle() {
  const isDark = useTheme() === 'dark';
  return (
    <Button
      type="text"
      icon={<Icon name={isDark ? 'sun' : 'moon'} />}
      aria-label={isDark ? 'Switch to light theme' : 'Switch to dark theme'}
      onClick={() => theme.toggle()}
    />
  );
}
