import { useIsMutating } from '@tanstack/react-query';
import { portalSettings, useIsOnline } from 'mfe-kit';
import { useSyncExternalStore } from 'react';
import { newVersion } from './new-version';
import demoNotice from './demo-notice.json';

declare module 'react' {
  interface CSSProperties {
    /** The number of notices on top of the page, 30 px each. */
    '--notices'?: number;
  }
}

/** A notice on top of every page. */
export interface Notice {
  key: 'demo' | 'offline' | 'version';
  text: string;
}

/** The current notices. */
export function useNotices(): Notice[] {
  const isOnline = useIsOnline();
  const isNewVersion = useSyncExternalStore(newVersion.subscribe, newVersion.get);
  // Do not suggest a reload that would interrupt a running payout.
  const isSending = useIsMutating() > 0;
  const notices: Notice[] = [];
  if (portalSettings().demo) notices.push({ key: 'demo', text: demoNotice });
  if (!isOnline) notices.push({ key: 'offline', text: 'You are offline. Payouts wait until you are back.' });
  if (isNewVersion && !isSending) notices.push({ key: 'version', text: 'A new version is available' });
  return notices;
}
