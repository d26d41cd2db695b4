/** What a `showNotification` event carries. */
export interface ShowNotification {
  type: 'success' | 'error' | 'info' | 'warning' | 'loading';
  message: string;
  /** Milliseconds until it goes by itself; 5000 without it, 0 for never. */
  duration?: number | undefined;
  /** A later notification with the same key takes this one's place. */
  key?: string | undefined;
}

/** Shows a toast, by the window event that the shell listens for. */
export function notify(notification: ShowNotification): void {
  window.dispatchEvent(new CustomEvent<ShowNotification>('showNotification', { detail: notification }));
}

/** Takes a toast away, such as 'Sending reset code...' once the answer is there. */
export function dismissNotification(key: string): void {
  window.dispatchEvent(new CustomEvent<string>('dismissNotification', { detail: key }));
}
