import { useIsMutating } from '@tanstack/react-query';
import { portalSettings, useIsOnline } from 'mfe-kit';
import { useSyncExternalStore } from 'react';
import { overridePanel, overrides, refusals } from '../overrides/is-overriding';
import demoNotice from './demo-notice.json';
import { newVersion } from './new-version';

declare module 'react' {
  interface CSSProperties {
    /** The number of notices on top of the page, 30 px each. */
    '--notices'?: number;
  }
}

/** A notice on top of every page. */
export interface Notice {
  key: 'demo' | 'offline' | 'override' | 'refusal' | 'version';
  text: string;
  action?: { label: string; run: () => void };
}

/** The current notices. */
export function useNotices(): Notice[] {
  const isOnline = useIsOnline();
  const isNewVersion = useSyncExternalStore(newVersion.subscribe, newVersion.get);
  const refused = useSyncExternalStore(refusals.subscribe, refusals.get);
  // Do not suggest a reload that would interrupt a running payout.
  const isSending = useIsMutating() > 0;
  const notices: Notice[] = [];
  if (portalSettings().demo) notices.push({ key: 'demo', text: demoNotice });
  if (!isOnline) notices.push({ key: 'offline', text: 'You are offline. Payouts wait until you are back.' });
  const overridden = Object.keys(overrides());
  if (overridden.length > 0)
    notices.push({
      key: 'override',
      text: `Not the live build: ${overridden.join(', ')}`,
      action: { label: 'Overrides', run: () => overridePanel.set(true) },
    });
  if (refused.length > 0)
    notices.push({
      key: 'refusal',
      text: refused.join(' '),
      action: { label: 'Dismiss', run: () => refusals.set([]) },
    });
  if (isNewVersion && !isSending)
    notices.push({
      key: 'version',
      text: 'A new version is available',
      action: { label: 'Reload', run: () => window.location.reload() },
    });
  return notices;
}
