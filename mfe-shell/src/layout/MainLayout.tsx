import { useQuery } from '@tanstack/react-query';
import { currentUserQuery, displayName, portalSettings, useSession } from 'mfe-kit';
import { Avatar } from 'mfe-kit/ui';
import { Drawer } from 'mfe-kit/ui-layout';
import { type ReactNode, useState } from 'react';
import { Header } from './Header';
import classes from './MainLayout.module.css';
import { Navigation } from './Navigation';

/** The frame around every screen of a signed-in user. */
export default function MainLayout({ children }: { children: ReactNode }) {
  const { user } = useSession();
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  const name = displayName(user);
  useQuery(currentUserQuery());

  const sidebar = (
    <>
      <Navigation role={user?.role} onNavigate={() => setDrawerOpen(false)} />
      <div className={classes.who}>
        <Avatar name={name} />
        <strong>{name}</strong>
      </div>
    </>
  );

  return (
    <>
      <a className={classes.skip} href="#content">
        Skip to content
      </a>
      <Header onMenu={() => setDrawerOpen(true)} />
      <div className={classes.frame}>
        <aside className={classes.sidebar}>{sidebar}</aside>
        <Drawer
          rootClassName={classes.drawer ?? ''}
          title={portalSettings().brand}
          placement="left"
          size={264}
          open={isDrawerOpen}
          onClose={() => setDrawerOpen(false)}
        >
          {sidebar}
        </Drawer>
        <div className={classes.content}>
          <main id="content" tabIndex={-1}>
            {children}
          </main>
          <footer>{`© ${new Date().getFullYear()} ${portalSettings().brand}`}</footer>
        </div>
      </div>
    </>
  );
}
