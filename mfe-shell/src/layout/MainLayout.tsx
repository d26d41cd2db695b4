import { useQuery } from '@tanstack/react-query';
import { currentUserQuery, displayName, formatYear, portalSettings, useSession, useToday } from 'mfe-kit';
import { Avatar } from 'mfe-kit/ui';
import { ThemeProvider } from 'mfe-kit/ui-data';
import { type MouseEvent, type ReactNode, useCallback, useRef, useState } from 'react';
import { Notices } from '../notices/Notices';
import { shellTexts } from '../shell-texts';
import { Drawer } from './Drawer';
import { Header } from './Header';
import classes from './MainLayout.module.css';
import { Navigation } from './Navigation';

export default function MainLayout({ children }: { children: ReactNode }) {
  const current = useSession().user;
  // Nobody's while the message of an ended session is shown; the frame is still that of its user.
  const [user, setUser] = useState(current);
  if (current && current !== user) setUser(current);
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  const closeDrawer = useCallback(() => setDrawerOpen(false), []);
  const content = useRef<HTMLElement>(null);
  const name = displayName(user);
  const texts = shellTexts();
  useQuery(currentUserQuery());

  // Not by the hash, which would be another page to the router.
  function skipToContent(event: MouseEvent) {
    event.preventDefault();
    content.current?.focus();
  }

  const sidebar = (
    <>
      <Navigation role={user?.role} onNavigate={closeDrawer} />
      <div className={classes.who}>
        <Avatar name={name} />
        <strong>{name}</strong>
      </div>
    </>
  );

  return (
    <div>
      <a className={classes.skip} href="#content" onClick={skipToContent}>
        {texts.skipToContent}
      </a>
      <div className={classes.top}>
        <Notices />
        <Header user={user} onMenu={() => setDrawerOpen(true)} />
      </div>
      <div className={classes.frame}>
        <aside className={classes.sidebar}>{sidebar}</aside>
        <Drawer label={texts.menu} isOpen={isDrawerOpen} onClose={closeDrawer}>
          {sidebar}
        </Drawer>
        <div className={classes.content}>
          <main id="content" tabIndex={-1} ref={content}>
            <ThemeProvider>{children}</ThemeProvider>
          </main>
          <footer>{`© ${formatYear(useToday())} ${portalSettings().brand}`}</footer>
        </div>
      </div>
    </div>
  );
}
