import { theme, useTheme } from 'mfe-kit';
import { Button } from './Button';
import { Icon } from './Icon';
import { uiTexts } from './ui-texts';

/** Switches between the light and the dark theme. */
export function ThemeToggle() {
  const texts = uiTexts();
  const isDark = useTheme() === 'dark';
  return (
    <Button
      type="text"
      icon={<Icon name={isDark ? 'sun' : 'moon'} />}
      aria-label={isDark ? texts.toLight : texts.toDark}
      onClick={() => theme.toggle()}
    />
  );
}
