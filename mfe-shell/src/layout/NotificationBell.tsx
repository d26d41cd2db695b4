import { isLive } from 'mfe-kit';
import { Button } from 'mfe-kit/ui';
import { LiveBell } from '../live/LiveBell';
import { BellFrame } from './BellFrame';

/** Sample content, as specified: there is no source of notifications (REQ-051 to REQ-053). */
const SAMPLES = [
  { title: 'New loan approved', text: 'A loan was approved and is ready for disbursement.' },
  { title: 'Disbursement completed', text: 'A loan was disbursed to the customer.' },
];

/** The bell. Where the screens are specified, or the provider has no notifications, it has two samples. */
export function NotificationBell() {
  return isLive() ? <LiveBell samples={<SampleBell />} /> : <SampleBell />;
}

function SampleBell() {
  return (
    <BellFrame
      label={`Notifications, ${SAMPLES.length} unread`}
      heading="Notifications"
      unread={SAMPLES.length}
    >
      {() => (
        <>
          <ul role="list">
            {SAMPLES.map(({ title, text }) => (
              <li key={title}>
                <strong>{title}</strong>
                <p>{text}</p>
              </li>
            ))}
          </ul>
          <Button type="link">View all notifications</Button>
        </>
      )}
    </BellFrame>
  );
}
