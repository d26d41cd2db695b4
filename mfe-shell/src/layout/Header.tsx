import { displayName, isLive, isolated, type SessionUser, signOut } from 'mfe-kit';
import { Avatar, Brand, Button, Icon, ThemeToggle } from 'mfe-kit/ui';
import { MenuButton } from 'mfe-kit/ui-layout';
import { shellTexts } from '../shell-texts';
import { leaving } from '../navigation/leaving';
import classes from './Header.module.css';
import { NotificationBell } from './NotificationBell';

export function Header({ user, onMenu }: { user: SessionUser | null; onMenu: () => void }) {
  const name = displayName(user);
  const texts = shellTexts();
  return (
    <header className={classes.header}>
      <Button
        className={classes.menu}
        type="text"
        icon={<Icon name="menu" />}
        aria-label={texts.openMenu}
        onClick={onMenu}
      />
      <Brand />
      <div className={classes.tools}>
        <ThemeToggle />
        <NotificationBell />
        <MenuButton
          label={texts.accountOf(isolated(name))}
          face={
            <span className={classes.who}>
              <Avatar name={name} />
              <span className={classes.name}>{name}</span>
              <Icon name="down" size={15} />
            </span>
          }
          heading={
            <>
              <strong>{name}</strong>
              <div className={classes.email}>{user?.email}</div>
            </>
          }
          items={[
            { label: texts.profile, icon: 'user', to: '/profile' },
            ...(isLive() && user?.role !== 'admin'
              ? []
              : [{ label: texts.settings, icon: 'settings' as const, to: '/settings' }]),
            { label: texts.logout, icon: 'signOut', onSelect: () => leaving.leave(() => void signOut()) },
          ]}
        />
      </div>
    </header>
  );
}
