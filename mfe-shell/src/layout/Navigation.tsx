import type { Role } from 'mfe-kit';
import { Icon, type IconName } from 'mfe-kit/ui';
import { NavLink } from 'react-router';
import classes from './Navigation.module.css';

interface Entry {
  label: string;
  to: string;
  icon: IconName;
  roles: readonly Role[];
}

const EVERYONE: readonly Role[] = ['admin', 'agent', 'supervisor'];

/** What the sidebar offers, and to whom (REQ-040 to REQ-046). */
const ENTRIES: readonly Entry[] = [
  { label: 'Dashboard', to: '/', icon: 'home', roles: EVERYONE },
  { label: 'Pending Loans', to: '/pending-loans', icon: 'clock', roles: EVERYONE },
  { label: 'Transactions', to: '/transactions', icon: 'transfer', roles: EVERYONE },
  { label: 'Settings', to: '/settings', icon: 'settings', roles: ['admin'] },
];

/** The sidebar's entries for a role; none without one. */
export function Navigation({ role, onNavigate }: { role: Role | undefined; onNavigate: () => void }) {
  return (
    <nav className={classes.entries} aria-label="Main">
      {ENTRIES.filter(({ roles }) => role && roles.includes(role)).map(({ label, to, icon }) => (
        <NavLink key={to} to={to} end={to === '/'} className={classes.entry ?? ''} onClick={onNavigate}>
          <Icon name={icon} />
          {label}
        </NavLink>
      ))}
    </nav>
  );
}
