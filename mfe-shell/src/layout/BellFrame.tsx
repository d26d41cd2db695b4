import { Button, Icon } from 'mfe-kit/ui';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import classes from './NotificationBell.module.css';

interface BellFrameProps {
  label: string;
  heading: string;
  unread: number;
  children: (close: () => void) => ReactNode;
}

/** The bell with its badge, and a panel below it that closes by Escape and when pointer or focus go elsewhere. */
export function BellFrame({ label, heading, unread, children }: BellFrameProps) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);

  useEffect(() => {
    if (!isOpen) return;
    const closeFromOutside = ({ target }: Event) => {
      if (!root.current?.contains(target as Node)) setOpen(false);
    };
    const closeByEscape = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape') return;
      setOpen(false);
      button.current?.focus();
    };
    document.addEventListener('pointerdown', closeFromOutside);
    document.addEventListener('focusin', closeFromOutside);
    document.addEventListener('keydown', closeByEscape);
    return () => {
      document.removeEventListener('pointerdown', closeFromOutside);
      document.removeEventListener('focusin', closeFromOutside);
      document.removeEventListener('keydown', closeByEscape);
    };
  }, [isOpen]);

  return (
    <div className={classes.root} ref={root}>
      <div className={classes.button}>
        <Button
          type="text"
          ref={button}
          icon={<Icon name="bell" />}
          aria-label={label}
          aria-expanded={isOpen}
          aria-controls={isOpen ? id : undefined}
          onClick={() => setOpen(!isOpen)}
        />
        {unread > 0 ? (
          <span className={classes.badge} aria-hidden="true">
            {unread > 999 ? '999+' : unread}
          </span>
        ) : null}
      </div>
      {isOpen ? (
        <section id={id} className={`raised ${classes.panel}`} aria-label={heading} tabIndex={-1}>
          <h2>{heading}</h2>
          {children(() => setOpen(false))}
        </section>
      ) : null}
    </div>
  );
}
