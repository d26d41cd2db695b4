import { useIsMutating } from '@tanstack/react-query';
import { portalSettings, useIsOnline } from 'mfe-kit';
import { Icon } from 'mfe-kit/ui';
import { useSyncExternalStore } from 'react';
import { noticesHeight } from '../layout/told-height';
import { overridePanel, overrides, refusals } from '../overrides/is-overriding';
import { shellTexts } from '../shell-texts';
import { newVersion } from './new-version';
import classes from './Notices.module.css';

interface Notice {
  key: 'demo' | 'offline' | 'override' | 'refusal' | 'version';
  text: string;
  action?: { label: string; run: () => void };
}

/** The notices on top of every page; a new one is announced. */
export function Notices() {
  return (
    <div role="status" aria-atomic="false" ref={noticesHeight}>
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

function useNotices(): Notice[] {
  const isOnline = useIsOnline();
  const isNewVersion = useSyncExternalStore(newVersion.subscribe, newVersion.get);
  const refused = useSyncExternalStore(refusals.subscribe, refusals.get);
  // Do not suggest a reload that would interrupt a running payout.
  const isSending = useIsMutating() > 0;
  const texts = shellTexts();
  const notices: Notice[] = [];
  const { demo, sandbox } = portalSettings();
  if (sandbox) notices.push({ key: 'demo', text: texts.sandbox(sandbox) });
  else if (demo) notices.push({ key: 'demo', text: texts.demo });
  if (!isOnline) notices.push({ key: 'offline', text: texts.offline });
  const overridden = Object.keys(overrides());
  if (overridden.length > 0)
    notices.push({
      key: 'override',
      text: texts.notLive(overridden.join(', ')),
      action: { label: texts.overrides, run: () => overridePanel.set(true) },
    });
  if (refused.length > 0)
    notices.push({
      key: 'refusal',
      text: refused.join(' '),
      action: { label: texts.dismiss, run: () => refusals.set([]) },
    });
  if (isNewVersion && !isSending)
    notices.push({
      key: 'version',
      text: texts.newVersion,
      action: { label: texts.reload, run: () => window.location.reload() },
    });
  return notices;
}
