import { Button, Icon } from 'mfe-kit/ui';
import { useEffect, useId, useRef, useState } from 'react';
import classes from './NotificationBell.module.css';

/** Sample content, as specified: there is no source of notifications (REQ-051 to REQ-053). */
const SAMPLES = [
  { title: 'New loan approved', text: 'A loan was approved and is ready for disbursement.' },
  { title: 'Disbursement completed', text: 'A loan was disbursed to the customer.' },
];

/** The bell, its badge, and its two sample notifications. */
export function NotificationBell() {
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
      <Button
        type="text"
        ref={button}
        icon={<Icon name="bell" />}
        aria-label={`Notifications, ${SAMPLES.length} unread`}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      />
      <span className={classes.badge} aria-hidden="true">
        {SAMPLES.length}
      </span>
      {isOpen ? (
        <section id={id} className={classes.panel} aria-label="Notifications">
          <h2>Notifications</h2>
          <ul>
            {SAMPLES.map(({ title, text }) => (
              <li key={title}>
                <strong>{title}</strong>
                <p>{text}</p>
              </li>
            ))}
          </ul>
          <Button type="link">View all notifications</Button>
        </section>
      ) : null}
    </div>
  );
}
