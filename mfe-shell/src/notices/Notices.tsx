import { Icon } from 'mfe-kit/ui';
import { useRef } from 'react';
import { useHeight } from '../layout/useHeight';
import classes from './Notices.module.css';
import { useNotices } from './useNotices';

/** The notices on top of every page; a new one is announced. */
export function Notices() {
  const part = useRef<HTMLDivElement>(null);
  useHeight(part, '--notices-height');
  return (
    <div role="status" aria-atomic="false" ref={part}>
      {useNotices().map(({ key, text, action }) => (
        <p key={key} className={`${classes.notice} ${classes[key]}`}>
          {key === 'offline' || key === 'refusal' ? <Icon name="alert" size={15} /> : null}
          {text}
          {action ? (
            <button type="button" className={classes.act} onClick={action.run}>
              {action.label}
            </button>
          ) : null}
        </p>
      ))}
    </div>
  );
}
