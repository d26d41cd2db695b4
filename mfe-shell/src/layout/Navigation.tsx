import { isLive, type Role, ROLES } from 'mfe-kit';
import { Icon, type IconName } from 'mfe-kit/ui';
import { Link, matchPath, useLocation } from 'react-router';
import shell from '../../package.json';
import type { MenuEntry } from '../live-slices';
import { shellTexts } from '../shell-texts';
import { useBrought } from '../slices/brought';
import { broughtText } from '../slices/brought-words';
import classes from './Navigation.module.css';

/** The shell's own entries; all others come from the slices. */
const OWN = shell.slice.menu as readonly MenuEntry[];

/** Where the screens are live. The specified menu has none for the reports (REQ-046). */
const REPORTS: MenuEntry = {
  label: 'Reports',
  to: '/reports',
  icon: 'chart',
  position: 40,
  roles: [...ROLES],
};

/** The sidebar's entries for a role; none without one (REQ-040 to REQ-046). */
export function Navigation({ role, onNavigate }: { role: Role | undefined; onNavigate: () => void }) {
  const { pathname } = useLocation();
  const { menu, screens } = useBrought();
  const hasReports = isLive() && screens.some(({ path }) => path === REPORTS.to);
  const entries = [...OWN, ...menu, ...(hasReports ? [REPORTS] : [])]
    .filter(({ roles }) => role && roles.includes(role))
    .sort((one, other) => one.position - other.position || one.label.localeCompare(other.label));
  return (
    <nav className={classes.entries} aria-label={shellTexts().navigation}>
      {entries.map((entry) => (
        <Link
          key={entry.to}
          to={entry.to}
          className={classes.entry}
          aria-current={placeOf(entry, pathname)}
          onClick={onNavigate}
        >
          <Icon name={entry.icon as IconName} />
          {broughtText(entry.label)}
        </Link>
      ))}
    </nav>
  );
}

/** The entry's `aria-current`: `page` on its own page, `true` on a page below it. */
function placeOf({ to, below }: MenuEntry, pathname: string) {
  if (matchPath(to, pathname)) return 'page';
  return below && matchPath(below, pathname) ? 'true' : undefined;
}
