import classes from './Icon.module.css';
import { ICON_PATHS } from './icon-paths';

/** The name of an icon. */
export type IconName = keyof typeof ICON_PATHS;

/** The names of all icons. */
export const ICONS = Object.keys(ICON_PATHS) as readonly IconName[];

/** A decorative icon beside text, hidden from assistive technology. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      className={classes.icon}
      width={size}
      height={size}
      viewBox="0 0 24 24"
      aria-hidden="true"
      focusable="false"
    >
      <path d={ICON_PATHS[name]} />
    </svg>
  );
}
