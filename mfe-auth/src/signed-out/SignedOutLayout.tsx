import { formatYear, portalSettings, tabTitle, useToday } from 'mfe-kit';
import { Brand, ThemeToggle } from 'mfe-kit/ui';
import type { ReactNode } from 'react';
import { OutboxLink } from './OutboxLink';
import classes from './SignedOutLayout.module.css';

interface SignedOutLayoutProps {
  title: string;
  /** The start of the window's title, where it differs from the heading. */
  windowTitle?: string;
  subtitle: ReactNode;
  children: ReactNode;
}

/** The layout of the screens before sign-in: one card with a form. */
export function SignedOutLayout({ title, windowTitle = title, subtitle, children }: SignedOutLayoutProps) {
  return (
    <div className={classes.page}>
      <title>{tabTitle(windowTitle)}</title>
      <header>
        <Brand />
        <ThemeToggle />
      </header>
      <main>
        <div className={classes.column}>
          <div className={classes.card}>
            <h1>{title}</h1>
            <p className={classes.subtitle}>{subtitle}</p>
            {children}
          </div>
          <OutboxLink />
        </div>
      </main>
      <footer>{`© ${formatYear(useToday())} ${portalSettings().brand}`}</footer>
    </div>
  );
}
