import type { Role } from 'mfe-kit';
import { Icon, type IconName } from 'mfe-kit/ui';
import { Link, matchPath, useLocation } from 'react-router';
import classes from './Navigation.module.css';

interface Entry {
  label: string;
  to: string;
  icon: IconName;
  /** The pages below it. */
  below?: string;
  roles: readonly Role[];
}

const EVERYONE: readonly Role[] = ['admin', 'agent', 'supervisor'];

/** The sidebar's entries and their roles (REQ-040 to REQ-046). */
const ENTRIES: readonly Entry[] = [
  { label: 'Dashboard', to: '/', icon: 'home', roles: EVERYONE },
  { label: 'Pending Loans', to: '/pending-loans', icon: 'clock', below: '/loans/*', roles: EVERYONE },
  { label: 'Transactions', to: '/transactions', icon: 'transfer', roles: EVERYONE },
  { label: 'Settings', to: '/settings', icon: 'settings', roles: ['admin'] },
];

/** The sidebar's entries for a role; none without one. */
export function Navigation({ role, onNavigate }: { role: Role | undefined; onNavigate: () => void }) {
  const { pathname } = useLocation();
  return (
    <nav className={classes.entries} aria-label="Main">
      {ENTRIES.filter(({ roles }) => role && roles.includes(role)).map((entry) => (
        <Link
          key={entry.to}
          to={entry.to}
          className={classes.entry}
          aria-current={placeOf(entry, pathname)}
          onClick={onNavigate}
        >
          <Icon name={entry.icon} />
          {entry.label}
        </Link>
      ))}
    </nav>
  );
}

/** Whether the page is the entry's own, or one below it. */
function placeOf({ to, below }: Entry, pathname: string) {
  if (matchPath(to, pathname)) return 'page';
  return below && matchPath(below, pathname) ? 'true' : undefined;
}
