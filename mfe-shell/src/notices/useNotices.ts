import { portalSettings, useIsOnline } from 'mfe-kit';
import demoNotice from './demo-notice.json';

declare module 'react' {
  interface CSSProperties {
    /** How many lines stand on top of the page, 30 px each. */
    '--notices'?: number;
  }
}

/** A line on top of every page. */
export interface Notice {
  key: 'demo' | 'offline';
  text: string;
}

/** What has to be said on top of every page now. */
export function useNotices(): Notice[] {
  const isOnline = useIsOnline();
  const notices: Notice[] = [];
  if (portalSettings().demo) notices.push({ key: 'demo', text: demoNotice });
  if (!isOnline) notices.push({ key: 'offline', text: 'You are offline. Payouts wait until you are back.' });
  return notices;
}
