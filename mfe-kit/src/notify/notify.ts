/** The detail of a `showNotification` event. */
export interface ShowNotification {
  type: 'success' | 'error' | 'info' | 'warning' | 'loading';
  message: string;
  /** Milliseconds until it disappears; 5000 by default, 0 for never. */
  duration?: number | undefined;
  /** A later notification with the same key replaces this one. */
  key?: string | undefined;
}

/** Shows a toast, by the window event that the shell listens for. */
export function notify(notification: ShowNotification): void {
  window.dispatchEvent(new CustomEvent<ShowNotification>('showNotification', { detail: notification }));
}

/** Removes a toast, such as 'Sending reset code...' once the answer has arrived. */
export function dismissNotification(key: string): void {
  window.dispatchEvent(new CustomEvent<string>('dismissNotification', { detail: key }));
}
