import { screenAct } from 'mfe-kit';
import type { ReactNode } from 'react';
import { Button } from './Button';
import { Icon, type IconName } from './Icon';
import { RequestId } from './RequestId';
import { Spinner } from './Spinner';
import classes from './StatePanel.module.css';
import { toneClass } from './tone';
import { uiTexts } from './ui-texts';

/** Shown while content is being loaded. */
export function LoadingState({ label }: { label?: string }) {
  return (
    <div className={classes.panel}>
      <Spinner label={label} />
    </div>
  );
}

interface FailedStateProps {
  title?: string;
  message: ReactNode;
  /** The error that was thrown; the ID of its request is shown. */
  error?: unknown;
  /** Replaces Retry, which reloads the page. */
  action?: ReactNode;
}

/** Shown instead of content that could not be loaded. */
export function FailedState({ title = uiTexts().error, message, error, action }: FailedStateProps) {
  return (
    <Panel tone="bad" icon="alert" title={title} text={message} role="alert">
      <RequestId of={error} />
      {action ?? <Button onClick={() => screenAct.reload()}>{uiTexts().retry}</Button>}
    </Panel>
  );
}

/** Shown instead of an empty list. */
export function EmptyState({ title, text, action }: { title: string; text?: string; action?: ReactNode }) {
  return (
    <Panel tone="info" icon="empty" title={title} text={text}>
      {action}
    </Panel>
  );
}

interface PanelProps {
  tone: 'bad' | 'info';
  icon: IconName;
  title: string;
  text?: ReactNode;
  role?: 'alert';
  children?: ReactNode;
}

function Panel({ tone, icon, title, text, role, children }: PanelProps) {
  return (
    <div className={classes.panel}>
      <span className={`${classes.icon} ${toneClass(tone)}`}>
        <Icon name={icon} size={22} />
      </span>
      <div className={classes.words} role={role}>
        <strong>{title}</strong>
        {text ? <p>{text}</p> : null}
      </div>
      {children}
    </div>
  );
}
