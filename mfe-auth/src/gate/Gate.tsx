import { portalSettings } from 'mfe-kit';
import { Brand, ThemeToggle } from 'mfe-kit/ui';
import type { ReactNode } from 'react';
import classes from './Gate.module.css';
import { OutboxLink } from './OutboxLink';

/** The frame of the screens before sign-in: one card, and nothing else to look at. */
export function Gate({
  title,
  subtitle,
  children,
}: {
  title: string;
  subtitle: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className={classes.gate}>
      <title>{`${title} · ${portalSettings().brand}`}</title>
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
      <footer>{`© ${new Date().getFullYear()} ${portalSettings().brand}`}</footer>
    </div>
  );
}
